import { expect, it } from '@jest/globals';
import type { Moment, Rules } from '../decider.js';
import { Refusal } from '../refusal.js';
import { specFor } from './spec-for.js';

type Count = { readonly type: 'Counted'; readonly by: number };
type State = { readonly total: number; readonly odd?: unknown };

const counter: Rules<State, { readonly type: 'Add'; readonly by: number }, Count> = {
  initial: () => ({ total: 0 }),
  decide: (state, { by }, { now }: Moment) => {
    if (by < 0) throw new Refusal('no', { total: state.total });
    if (by > 100) throw new TypeError('a fault');
    return by === 0 ? [] : [{ type: 'Counted', by: by === 1 ? now : by }];
  },
  evolve: (state, { by }) => (by === 13 ? { total: 13, odd: undefined } : { total: state.total + by }),
};

const given = specFor(counter);
const counted = (by: number): Count => ({ type: 'Counted', by });
const add = (by: number) => ({ type: 'Add' as const, by });

it('accepts what the rules do', () => {
  given(counted(2)).when(add(3)).then(counted(3));
  given(counted(2)).when(add(0)).thenNothing();
  given(counted(2)).when(add(3)).thenState({ total: 5 });
  given(counted(2)).when(add(-1)).thenRefused('no', { total: 2 });
  given().when(add(-1)).thenRefused('no');
  given().when(add(1), { now: 77 }).then(counted(77));
});

it.each<[string, () => void, RegExp]>([
  ['other facts', () => given().when(add(3)).then(counted(4)), /"by": 4[^]*"by": 3/],
  ['facts in another number', () => given().when(add(3)).then(counted(3), counted(3)), /toEqual/],
  ['facts instead of nothing', () => given().when(add(3)).thenNothing(), /"by": 3/],
  ['nothing instead of facts', () => given().when(add(0)).then(counted(3)), /"by": 3/],
  ['a refusal instead of facts', () => given().when(add(-1)).then(counted(3)), /"refused": "no"/],
  ['a refusal instead of nothing', () => given().when(add(-1)).thenNothing(), /"refused": "no"/],
  ['facts instead of a refusal', () => given().when(add(3)).thenRefused('no'), /"by": 3/],
  ['another code', () => given().when(add(-1)).thenRefused('never'), /"never"[^]*"no"/],
  ['other details', () => given().when(add(-1)).thenRefused('no', { total: 9 }), /"total": 9[^]*"total": 0/],
  ['another state', () => given().when(add(3)).thenState({ total: 4 }), /"total": 4[^]*"total": 3/],
  ['a refusal instead of a state', () => given().when(add(-1)).thenState({ total: 0 }), /facts/],
  ['a past that does not survive JSON', () => given(counted(13)).when(add(3)).then(counted(3)), /undefined/],
  ['a new state that does not survive JSON', () => given().when(add(13)).thenState({ total: 13 }), /undefined/],
])('fails with a diff on %s', (_what, assertion, message) => {
  let failure: unknown;
  try {
    assertion();
  } catch (error) {
    failure = error;
  }
  // oxlint-disable-next-line no-control-regex -- colours
  expect(String((failure as Error | undefined)?.message).replaceAll(/\u001B\[\d+m/g, '')).toMatch(message);
});

it('lets a fault through, because it is not a refusal', () => {
  expect(() => given().when(add(101)).thenRefused('a fault')).toThrow(TypeError);
});

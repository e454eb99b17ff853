import { describe, expect, it } from '@jest/globals';
import { advance, type Chain, nextStep, windowAfter } from './chain.js';
import { checkedIn } from './testing/builders.js';

const chain = (
  cur: number,
  interval: number,
  prev: number | null = null,
  prevInterval: number | null = null,
): Chain => ({
  cur: { number: cur, interval },
  prev: prev === null ? null : { number: prev, interval: prevInterval },
});

describe('the chain of answers', () => {
  it.each<[string, Chain, number | null, number]>([
    ['the first check', null, null, 1],
    ['the token of the newest answer', chain(1, 30), 1, 2],
    ['the token of the answer before, after a lost answer', chain(5, 30, 4, 30), 4, 6],
    ['no token', chain(5, 30), null, 6],
    ['a token after the head was folded anew', null, 57, 58],
    ['a number above all that is known', chain(5, 30), 57, 58],
  ])('issues a number above every one before, for %s', (_what, before, presented, issued) => {
    expect(nextStep(before, presented)).toEqual({ presented, issued });
  });

  it('moves what was presented to the second place, with its interval', () => {
    const after = (before: Chain, presented: number | null) =>
      advance(before, checkedIn({ interval: 60, chain: nextStep(before, presented) }));
    expect(after(null, null)).toEqual({ cur: { number: 1, interval: 60 }, prev: null });
    expect(after(chain(5, 90, 4, 30), 5)).toEqual({
      cur: { number: 6, interval: 60 },
      prev: { number: 5, interval: 90 },
    });
    expect(after(chain(5, 90, 4, 30), 4)).toEqual({
      cur: { number: 6, interval: 60 },
      prev: { number: 4, interval: 30 },
    });
    expect(after(chain(5, 90, 4, 30), 3)).toEqual({
      cur: { number: 6, interval: 60 },
      prev: { number: 3, interval: null },
    });
    expect(after(chain(5, 90, 4, 30), null)).toEqual({ cur: { number: 6, interval: 60 }, prev: null });
  });

  it('is unknown after a check that was read from the record', () => {
    expect(advance(chain(5, 30), checkedIn())).toBeNull();
  });
});

describe('the window is three of the longest interval that the machine may be following (O22, C10)', () => {
  const policy = (interval: number, windowFloor = 120) => ({ interval, windowFloor });

  it.each<[string, Chain, number | null, number | null, number, number]>([
    // what, chain, window before, presented, interval issued now, expected
    ['the first check, at 30 s', null, null, null, 30, 120],
    ['three intervals just over the floor', null, null, null, 41, 123],
    ['three intervals exactly at the floor', null, null, null, 40, 120],
    ['a longer interval, at once', chain(5, 30), 120, 5, 90, 270],
    ['a shorter interval, just issued to a machine that follows the longer one', chain(5, 90), 270, 5, 30, 270],
    ['a shorter interval whose arrival the token shows', chain(6, 30, 5, 90), 270, 6, 30, 120],
    ['a shorter interval whose answer was lost', chain(6, 30, 5, 90), 270, 5, 30, 270],
    ['a shorter interval that both answers carried, one of them lost', chain(6, 30, 5, 30), 270, 5, 30, 120],
    ['a token of neither place, where there is but one', chain(6, 30), 270, 5, 30, 270],
    ['a longer interval between whose answer may come late', chain(6, 90, 5, 30), 270, 5, 30, 270],
    ['no token', chain(6, 30, 5, 30), 270, null, 30, 270],
    ['no token, and a longer interval', chain(6, 30, 5, 30), 270, null, 100, 300],
    ['a token of neither place', chain(6, 30, 5, 30), 270, 4, 30, 270],
    ['a head that was folded anew', null, 270, 6, 30, 270],
    ['a token of the second place with an unknown interval', chain(6, 30, 5, null), 270, 5, 30, 270],
  ])('for %s', (_what, before, window, presented, interval, expected) => {
    expect(windowAfter(before, window, presented, policy(interval))).toBe(expected);
  });

  it('is never under the floor, whatever the floor is', () => {
    expect(windowAfter(chain(5, 1), 3, 5, policy(1, 3))).toBe(3);
    expect(windowAfter(chain(5, 1), 3, 5, policy(1, 2))).toBe(3);
    expect(windowAfter(chain(5, 1), 3, 5, policy(1, 600))).toBe(600);
  });
});

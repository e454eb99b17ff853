import { describe, expect, it } from '@jest/globals';
import { specFor } from '@rollcall/decider/testing';
import type { CredentialRefused, NoteRefusal } from './index.js';
import type { Credential } from './credential.js';
import { olderUse, refusals } from './refusals.js';

const given = specFor(refusals);
const NOON = Date.UTC(2026, 0, 1, 12);
const HOUR = 3_600_000;

const refused = (over: Partial<CredentialRefused> = {}): CredentialRefused => ({
  type: 'CredentialRefused',
  machine: 'm',
  code: 'credential-revoked',
  generation: 2,
  keyHash: 'h2',
  lastAcceptedAt: '2026-01-01T11:59:30.000Z',
  refusedAt: '2026-01-01T12:00:00.000Z',
  ...over,
});
const use = (over: Partial<NoteRefusal> = {}): NoteRefusal => ({
  type: 'NoteRefusal',
  machine: 'm',
  code: 'credential-revoked',
  generation: 2,
  keyHash: 'h2',
  lastAcceptedAt: NOON - 30_000,
  ...over,
});

it('records the first refused use after a deletion, with the last accepted check before it (B7)', () =>
  given().when(use(), { now: NOON }).then(refused()));

it('records one whose machine never checked in (B7)', () =>
  given()
    .when(use({ lastAcceptedAt: null, generation: null }), { now: NOON })
    .then(refused({ lastAcceptedAt: null, generation: null })));

it('records at most one an hour for each reason and generation (B7)', () => {
  given(refused())
    .when(use(), { now: NOON + HOUR - 1 })
    .thenNothing();
  given(refused())
    .when(use(), { now: NOON + HOUR })
    .then(refused({ refusedAt: '2026-01-01T13:00:00.000Z' }));
});

it('hides no first use after a deletion behind refusals from before it (B7)', () =>
  given(refused({ code: 'generation-behind' }))
    .when(use(), { now: NOON })
    .then(refused()));

it('hides no first use of a generation behind those of an older one (B7, U4)', () =>
  given(refused({ generation: 1, keyHash: 'h1' }))
    .when(use(), { now: NOON })
    .then(refused()));

it('takes all that are too old to have a number for one: whoever holds a hundred of them makes one event an hour (B7)', () =>
  given(refused({ generation: null, keyHash: 'h1' }))
    .when(use({ generation: null, keyHash: 'h0' }), { now: NOON + HOUR - 1 })
    .thenNothing());

it('remembers refusals for as long as they keep others quiet', () => {
  const later = { generation: 3, refusedAt: '2026-01-01T13:00:00.000Z' };
  const state = [refused(), refused({ generation: 1 }), refused(later)].reduce(refusals.evolve, refusals.initial());
  expect(state).toEqual({ 'credential-revoked 3': later.refusedAt });
});

it('takes a fact of another type for none of its own', () =>
  expect(refusals.evolve({}, { type: 'SomethingNew' } as never)).toEqual({}));

describe('an older credential is in somebody’s hands (B2)', () => {
  const at = '2026-01-01T12:00:00.000Z';
  const behind = (generation: number | null, refusedAt = at) =>
    refused({ code: 'generation-behind', generation, refusedAt });
  const holding = (current: number | null, over: Partial<Credential> = {}): Credential => ({
    status: 'live',
    current: current === null ? null : { generation: current, keyHash: `h${current}`, registeredAt: at },
    pending: null,
    highest: current ?? 0,
    ...over,
  });
  const used = (...facts: readonly CredentialRefused[]) => facts.reduce(refusals.evolve, refusals.initial());

  it('where one was refused since the one that counts was registered, the newest of them', () => {
    expect(olderUse(used(behind(1), behind(2)), holding(3))).toEqual({ generation: 1, at: NOON });
    expect(olderUse(used(behind(1), behind(2, '2026-01-01T12:00:01.000Z')), holding(3))).toEqual({
      generation: 2,
      at: NOON + 1_000,
    });
    expect(olderUse(used(behind(null)), holding(9))).toEqual({ generation: null, at: NOON });
    const older = { generation: 2, keyHash: 'h2' };
    expect(olderUse(used(behind(1)), holding(2, { current: older }))).toEqual({ generation: 1, at: NOON });
  });

  it('and not where it was refused before, is the one that counts or a void later one, or the machine is deleted or new', () => {
    expect(olderUse(used(behind(1, '2026-01-01T11:59:59.999Z')), holding(2))).toBeNull();
    expect(olderUse(used(behind(2), behind(3)), holding(2))).toBeNull();
    expect(olderUse(used(refused({ generation: 1 })), holding(2))).toBeNull();
    expect(olderUse(used(behind(1)), holding(2, { status: 'revoked' }))).toBeNull();
    expect(olderUse(used(behind(1)), holding(null))).toBeNull();
  });
});

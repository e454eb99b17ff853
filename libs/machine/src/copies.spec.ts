import { describe, expect, it } from '@jest/globals';
import { specFor } from '@rollcall/decider/testing';
import type { Chain } from './chain.js';
import { canTakeWork } from './can-take-work.js';
import { copies, type CheckAfterOthers } from './copies.js';
import type { MachineFact } from './facts.js';
import { machine } from './machine.js';
import { DUPLICATE, readiness } from './readiness.js';
import {
  admitted,
  boot,
  check,
  checkedIn,
  confirmed,
  deleted,
  forked,
  keyHash,
  MACHINE_ID,
  registered,
} from './testing/builders.js';

const given = specFor(copies);
const NOON = Date.UTC(2026, 0, 1, 12);
const HOUR = 3_600_000;
const chain: Chain = { cur: { number: 6, interval: 30 }, prev: { number: 4, interval: 30 } };

const presenting = (presented: number | null, before: Partial<CheckAfterOthers['before']> = {}): CheckAfterOthers => ({
  ...check({ chain: presented, boot: boot(3) }),
  machine: MACHINE_ID,
  generation: 1,
  before: { window: 120, chain, generation: 1, ...before },
});
const at = (now: number, lastCheckAt: number | null = NOON - 30_000) => ({ now, lastCheckAt });

describe('a credential is in use twice', () => {
  it.each([5, 3, 7])('where a check presents token %d, which is neither of the two newest (B2)', (presented) =>
    given(checkedIn())
      .when(presenting(presented), at(NOON))
      .then(forked({ boot: boot(3) })),
  );

  it.each<[string, CheckAfterOthers]>([
    ['the newest token is presented', presenting(6)],
    ['the one before is presented, after a lost answer', presenting(4)],
    ['no token is presented, or one of another epoch', presenting(null)],
    ['the chain was lost with its head', presenting(5, { chain: null })],
    ['the generation is another one than that of the chain', presenting(5, { generation: 2 })],
    ['nobody knows of which generation the chain is', presenting(5, { generation: null })],
  ])('and nothing says so where %s (B2)', (_what, said) => given(checkedIn()).when(said, at(NOON)).thenNothing());

  it('is said once an hour, by the time of the record (B2)', () => {
    given(forked())
      .when(presenting(5), at(NOON + HOUR - 1))
      .thenNothing();
    given(forked())
      .when(presenting(5), at(NOON + HOUR))
      .then(forked({ boot: boot(3), noticedAt: '2026-01-01T13:00:00.000Z' }));
  });

  it('is timed by the check before where a decision has not heard of that yet', () => {
    given(forked())
      .when(presenting(5), at(NOON, NOON + HOUR - 1))
      .thenNothing();
    given()
      .when(presenting(5), at(NOON - HOUR, NOON))
      .then(forked({ boot: boot(3) }));
  });

  it('until a later generation is confirmed, or the machine is deleted (B2, C01)', () => {
    const after = (...past: MachineFact[]) => past.reduce(copies.evolve, copies.initial());
    expect(after(forked(), registered(2), checkedIn())).toEqual({ noticedAt: '2026-01-01T12:00:00.000Z' });
    expect(after(forked(), registered(2), confirmed(2))).toBeNull();
    expect(after(forked(), deleted())).toBeNull();
    given(forked(), confirmed(2))
      .when(presenting(5), at(NOON + 1_000))
      .then(forked({ boot: boot(3), noticedAt: '2026-01-01T12:00:01.000Z' }));
  });
});

describe('a machine whose credential is in use twice', () => {
  const past = [
    admitted(),
    registered(1),
    confirmed(1),
    checkedIn({ chain: { presented: null, issued: 1 } }),
    checkedIn({ sequence: 2, chain: { presented: 1, issued: 2 } }),
    checkedIn({ sequence: 3, chain: { presented: 2, issued: 3 } }),
  ];
  const state = past.reduce(machine.evolve, machine.initial());
  const moment = { now: NOON, lastCheckAt: NOON - 1_000 };
  const types = (facts: readonly { readonly type: string }[]) => facts.map(({ type }) => type);

  it('is heard all the same: the check is recorded after the signal (B2)', () => {
    const facts = machine.decide(state, check({ sequence: 4, chain: 1 }), moment);
    expect(types(facts)).toEqual(['CredentialForked', 'CheckedIn']);
    expect(facts.reduce(machine.evolve, state).copies).toEqual({ noticedAt: '2026-01-01T12:00:00.000Z' });
  });

  it('is free of the sign by the first check of the next generation, whatever token that presents (B2, C01)', () => {
    const rotated = [forked(), registered(2)].reduce(machine.evolve, state);
    const first = check({ keyHash: keyHash(2), sequence: 4, chain: 1 });
    const facts = machine.decide(rotated, first, moment);
    expect(types(facts)).toEqual(['GenerationConfirmed', 'CheckedIn']);
    expect(facts.reduce(machine.evolve, rotated).copies).toBeNull();
  });

  it('and so by its first upload: the check after that may present any token (B2)', () => {
    const rotated = [forked(), registered(2), confirmed(2)].reduce(machine.evolve, state);
    const facts = machine.decide(rotated, check({ keyHash: keyHash(2), sequence: 4, chain: 1 }), moment);
    expect(types(facts)).toEqual(['CheckedIn']);
  });

  it('gets no work, and neither says so itself nor says that it is over (B2)', () => {
    expect(canTakeWork({ presence: 'present', lifecycle: 'running', blockers: [DUPLICATE] })).toBe(false);
    expect(readiness.decide([], check({ blockers: [DUPLICATE] }), moment)).toEqual([]);
    const silent = machine.decide(state, check({ sequence: 4, chain: 3, blockers: [DUPLICATE] }), moment);
    expect(types(silent)).toEqual(['CheckedIn']);
    const stands = machine.evolve(state, forked());
    const cleared = machine.decide(stands, check({ sequence: 4, chain: 3, blockers: [] }), moment);
    expect(cleared.reduce(machine.evolve, stands).copies).toEqual(stands.copies);
  });

  it('has no such sign on a head of an older version, and gets it there too', () => {
    const { copies: _none, checkIns, ...rest } = state;
    const { generation: _unknown, ...kept } = checkIns;
    const older = { ...rest, checkIns: kept };
    const unsure = machine.decide(older, check({ sequence: 4, chain: 1 }), moment);
    expect(types(unsure)).toEqual(['CheckedIn']);
    const known = unsure.reduce(machine.evolve, older);
    expect(types(machine.decide(known, check({ sequence: 5, chain: 2 }), moment))).toEqual([
      'CredentialForked',
      'CheckedIn',
    ]);
  });
});

import { expect, it } from '@jest/globals';
import type { StreamPast } from '@rollcall/event-store';
import { admitted, checkedIn, forked, returned, wentAbsent } from '@rollcall/machine/testing';
import type { MachineView } from '@rollcall/wire';
import { RecordBuilder } from '../testing/index.js';
import { basisOf } from './basis.js';

const M = '0192f0c4-0000-7000-8000-000000000001';

/** The past of a machine that was absent once before. */
const past = (): StreamPast => {
  const record = new RecordBuilder().record(M, admitted(), checkedIn(), forked()).after(121).record(M, wentAbsent());
  record.after(60).record(M, returned(61), checkedIn({ sequence: 2 }));
  const facts = record.batches().flatMap((batch) => batch.facts);
  return {
    events: facts.filter((fact) => fact.kind === 'event'),
    newestCheckIn: facts.findLast((fact) => fact.kind === 'check-in') ?? null,
  } as unknown as StreamPast;
};
const typesOf = (absentSince: string | null, ...codes: readonly string[]): readonly string[] => {
  const blockers = codes.map((code) => ({ code }));
  const view = {
    presence: 'absent',
    absentSince,
    lifecycle: 'unknown',
    blockers,
    pause: null,
    refusedClaims: null,
    deletedAt: null,
  };
  return basisOf(past(), view as unknown as MachineView, []).map((one) => ('type' in one ? one.type : one.kind));
};

it('rests on the absence that is recorded, and on no earlier one while this one is not (B5)', () => {
  expect(typesOf('2026-01-01T12:02:00.000Z')).toContain('WentAbsent');
  expect(typesOf(null)).toEqual(['MachineAdmitted', 'check']);
});

it('rests on the signal where a copy stands, and on no report of the machine then (B2, B5)', () =>
  expect(typesOf(null, 'duplicate-installation')).toEqual(['MachineAdmitted', 'CredentialForked', 'check']));

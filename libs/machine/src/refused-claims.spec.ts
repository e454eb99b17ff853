import { expect, it } from '@jest/globals';
import { specFor } from '@rollcall/decider/testing';
import type { NoteRefusedClaim } from './commands.js';
import type { ClaimRefused } from './facts.js';
import { machine } from './machine.js';
import { admitted, confirmed, deleted, registered } from './testing/builders.js';

const given = specFor(machine);
const NOW = Date.UTC(2026, 0, 1, 12);
const LIVING = [admitted(), registered(1), confirmed(1)];
const note: NoteRefusedClaim = { type: 'NoteRefusedClaim', token: 'token-2', hostname: 'forge' };
const refused = (noticedAt: string): ClaimRefused => ({ ...note, type: 'ClaimRefused', noticedAt });

it('records a refused claim on the identifier, with what it brought and what it says of itself (C03)', () =>
  given(...LIVING)
    .when(note, { now: NOW })
    .then(refused('2026-01-01T12:00:00.000Z')));

it('records twenty repeats within a minute as one event, and the next after it (C03)', () => {
  const past = [...LIVING, refused('2026-01-01T12:00:00.000Z')];
  for (let repeat = 1; repeat <= 20; repeat += 1)
    given(...past)
      .when(note, { now: NOW + repeat * 2_999 })
      .thenNothing();
  given(...past)
    .when(note, { now: NOW + 60_000 })
    .then(refused('2026-01-01T12:01:00.000Z'));
});

it('records nothing about a machine that is deleted: its identifier is free (O18)', () => {
  given(...LIVING, deleted())
    .when(note)
    .thenRefused('machine-not-found', {});
  given().when(note).thenRefused('machine-not-found', {});
});

it('changes no credential and takes no key (O18)', () => {
  const before = LIVING.reduce(machine.evolve, machine.initial());
  const { refusedClaims: _, ...after } = machine.evolve(before, refused('2026-01-01T12:00:00.000Z'));
  expect(after).toEqual(before);
  expect(machine.claims?.(refused('2026-01-01T12:00:00.000Z'))).toEqual([]);
});

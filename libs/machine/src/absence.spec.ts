import { describe, expect, it } from '@jest/globals';
import { specFor } from '@rollcall/decider/testing';
import { absence, type SilenceSeen } from './absence.js';
import { dueForAbsence, machine } from './machine.js';
import { admitted, check, checkedIn, deleted, returned, started, wentAbsent } from './testing/builders.js';

const given = specFor(absence);
const NOON = Date.UTC(2026, 0, 1, 12);
const seen = (over: Partial<SilenceSeen> = {}): SilenceSeen => ({
  type: 'NoteSilence',
  heardUntil: NOON + 120_001,
  gapEnd: null,
  window: 120,
  stopReason: null,
  ...over,
});
const heardAtNoon = { lastCheckAt: NOON };

describe('a silence (O22, B1)', () => {
  it('is recorded when it is longer than the window, with when that was, and not a moment before', () => {
    given(checkedIn()).when(seen(), heardAtNoon).then(wentAbsent());
    given(checkedIn())
      .when(seen({ heardUntil: NOON + 120_000 }), heardAtNoon)
      .thenNothing();
    given(checkedIn())
      .when(seen({ heardUntil: NOON + 900_000 }), heardAtNoon)
      .then(wentAbsent());
  });

  it('says why the machine had said that it would stop (O23)', () =>
    given(checkedIn())
      .when(seen({ stopReason: 'update' }), heardAtNoon)
      .then(wentAbsent({ stopReason: 'update' })));

  it('counts from when the plane listened again', () => {
    const gapEnd = NOON + 600_000;
    given(checkedIn())
      .when(seen({ heardUntil: gapEnd + 120_000, gapEnd }), heardAtNoon)
      .thenNothing();
    given(checkedIn())
      .when(seen({ heardUntil: gapEnd + 120_001, gapEnd }), heardAtNoon)
      .then(wentAbsent({ dueAt: '2026-01-01T12:12:00.000Z' }));
  });

  it('is recorded once, however many notice it and however late', () => {
    given(checkedIn(), wentAbsent()).when(seen(), heardAtNoon).thenNothing();
    given(checkedIn(), wentAbsent(), returned(5), checkedIn({ sequence: 2 }))
      .when(seen(), { lastCheckAt: NOON + 125_000 })
      .thenNothing();
  });

  it('is none of a machine that has not checked in yet', () =>
    given()
      .when(seen({ window: null }))
      .thenNothing());

  it('ends with the next check, which says how long it had been an absence', () => {
    given(checkedIn(), wentAbsent())
      .when(check(), { now: NOON + 125_999, ...heardAtNoon })
      .then(returned(5));
    // The record's time never goes back, but a state that was made by hand may be ahead.
    given(checkedIn(), wentAbsent())
      .when(check(), { now: NOON, ...heardAtNoon })
      .then(returned(0));
    given(checkedIn())
      .when(check(), { now: NOON + 125_000, ...heardAtNoon })
      .thenNothing();
  });

  it('ends with the machine', () => given(wentAbsent(), deleted()).when(check()).thenNothing());
});

describe('a machine', () => {
  const RUNNING = [admitted(), started(), checkedIn()];
  const note = { type: 'NoteSilence', heardUntil: NOON + 120_001, gapEnd: null } as const;
  const givenMachine = specFor(machine);

  it('that said it would stop is recorded as such when the silence comes (O23)', () => {
    givenMachine(...RUNNING)
      .when(note, heardAtNoon)
      .then(wentAbsent());
    givenMachine(...RUNNING, checkedIn({ sequence: 2, said: 'stopping', reason: 'restart' }))
      .when(note, heardAtNoon)
      .then(wentAbsent({ stopReason: 'restart' }));
    // A start whose first word was not recorded has said nothing.
    givenMachine(...RUNNING, checkedIn({ sequence: 2, said: 'stopping', reason: 'restart' }), started())
      .when(note, heardAtNoon)
      .then(wentAbsent());
  });

  it('has no absence on a head of the time before there were any, which needs no new fold', () => {
    const {
      absence: _none,
      pause: _nor,
      labels: _either,
      ...before
    } = RUNNING.reduce(machine.evolve, machine.initial());
    const decided = machine.decide(before, note, { now: NOON + 120_001, ...heardAtNoon });
    expect(decided.reduce(machine.evolve, before)).toEqual(
      [...RUNNING, wentAbsent()].reduce(machine.evolve, machine.initial()),
    );
  });

  it('that is deleted or unknown goes silent without a record (O31)', () => {
    givenMachine(...RUNNING, deleted())
      .when(note, heardAtNoon)
      .thenNothing();
    givenMachine().when(note).thenNothing();
  });

  it('is due for absence a window after its last check or the gap after it, while there is anything to wait for', () => {
    const due = (facts: Parameters<typeof machine.evolve>[1][], heard: Parameters<typeof dueForAbsence>[1]) =>
      dueForAbsence(facts.reduce(machine.evolve, machine.initial()), heard);
    expect(due(RUNNING, { lastCheckAt: NOON, gapEnd: null })).toBe(NOON + 120_000);
    expect(due(RUNNING, { lastCheckAt: NOON, gapEnd: NOON + 7 })).toBe(NOON + 120_007);
    expect(due(RUNNING, { lastCheckAt: NOON, gapEnd: NOON - 7 })).toBe(NOON + 120_000);
    expect(due([admitted()], { lastCheckAt: null, gapEnd: null })).toBeNull();
    expect(due([...RUNNING, wentAbsent()], { lastCheckAt: NOON, gapEnd: null })).toBeNull();
    expect(due([...RUNNING, deleted()], { lastCheckAt: NOON, gapEnd: null })).toBeNull();
  });
});

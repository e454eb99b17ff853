import { describe, expect, it } from '@jest/globals';
import { specFor } from '@rollcall/decider/testing';
import type { MachineFact } from './facts.js';
import { machine } from './machine.js';
import { pause, pauseStands } from './pause.js';
import { admitted, check, checkedIn, confirmed, deleted, paused, registered, started } from './testing/builders.js';

const given = specFor(pause);
const NOON = Date.UTC(2026, 0, 1, 12);
const IN_AN_HOUR = '2026-01-01T13:00:00.000Z';
const now = { now: NOON };
const pauseFor = (note: string, until: string | null = null) => ({ type: 'PauseMachine', note, until }) as const;
const resume = { type: 'ResumeMachine' } as const;

describe('a pause', () => {
  it('is a person’s word with a note, for a time or until it is taken back', () => {
    given().when(pauseFor('a new disk'), now).then(paused('a new disk'));
    given().when(pauseFor('a new disk', IN_AN_HOUR), now).then(paused('a new disk', IN_AN_HOUR));
    given(paused('a new disk')).when(resume, now).then({ type: 'MachineResumed' });
  });

  it('can be given a length, which counts from when it is recorded', () =>
    given()
      .when({ type: 'PauseMachine', note: 'lunch', until: { seconds: 3_600 } }, now)
      .then(paused('lunch', IN_AN_HOUR)));

  it('is recorded again when note or expiry change, and not when they are the same', () => {
    given(paused('a new disk', IN_AN_HOUR)).when(pauseFor('a new disk', IN_AN_HOUR), now).thenNothing();
    given(paused('a new disk', IN_AN_HOUR)).when(pauseFor('a fan', IN_AN_HOUR), now).then(paused('a fan', IN_AN_HOUR));
    given(paused('a new disk', IN_AN_HOUR)).when(pauseFor('a new disk'), now).then(paused('a new disk'));
  });

  it('cannot be over before it begins', () => {
    given().when(pauseFor('late', '2026-01-01T12:00:00.000Z'), now).thenRefused('pause-already-over', {});
  });

  it('is over at its expiry, and then there is nothing to take back', () => {
    given(paused('a new disk', IN_AN_HOUR))
      .when(resume, { now: NOON + 3_599_999 })
      .then({ type: 'MachineResumed' });
    given(paused('a new disk', IN_AN_HOUR))
      .when(resume, { now: NOON + 3_600_000 })
      .thenNothing();
    given(paused('x', IN_AN_HOUR))
      .when(pauseFor('x', '2026-01-01T14:00:00.000Z'), { now: NOON + 3_600_000 })
      .then(paused('x', '2026-01-01T14:00:00.000Z'));
    given().when(resume, now).thenNothing();
    expect(pauseStands(null, NOON)).toBe(false);
    expect(pauseStands({ note: '', until: null }, NOON)).toBe(true);
    expect(pauseStands({ note: '', until: IN_AN_HOUR }, NOON + 3_600_000)).toBe(false);
  });
});

describe('nothing that a machine says', () => {
  const givenMachine = specFor(machine);
  const PAUSED: readonly MachineFact[] = [
    admitted(),
    registered(1),
    confirmed(1),
    started(),
    checkedIn({ chain: { presented: null, issued: 1 } }),
    paused('a new disk'),
  ];
  const says = (...blockers: string[]) => check({ sequence: 2, chain: 1, blockers });
  const recorded = checkedIn({ sequence: 2, chain: { presented: 1, issued: 2 } });

  it('raises or clears a pause: not a set of blockers with its code or without', () => {
    givenMachine(...PAUSED)
      .when(says())
      .then(recorded);
    givenMachine(...PAUSED)
      .when(says('operator-paused', 'disk-full'))
      .then({ type: 'BlockersChanged', blockers: ['disk-full'] }, recorded);
    givenMachine(...PAUSED)
      .when(says('disk-full'))
      .thenState({ pause: { note: 'a new disk', until: null } });
  });

  it('is asked of a machine that is gone', () => {
    givenMachine(...PAUSED, deleted())
      .when(resume)
      .thenRefused('machine-not-found');
    givenMachine().when(pauseFor('x')).thenRefused('machine-not-found');
  });
});

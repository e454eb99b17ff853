import { describe, expect, it } from '@jest/globals';
import { specFor } from '@rollcall/decider/testing';
import { type StopAnnounced, type StopReason, STOP_REASONS } from './facts.js';
import { lastWord, lifecycle } from './lifecycle.js';
import { boot, check, checkedIn, started } from './testing/builders.js';

const given = specFor(lastWord);

const stopping = (reason: StopReason) => check({ said: 'stopping', reason });
const saidStopping = (reason: StopReason) => checkedIn({ said: 'stopping', reason });
const announced = (reason: StopReason): StopAnnounced => ({ type: 'StopAnnounced', reason });

describe('the last word of a machine', () => {
  it.each(STOP_REASONS)('announces a stop because of %s (O17)', (reason) =>
    given(started(), checkedIn()).when(stopping(reason)).then(announced(reason)),
  );

  it('announces nothing while it runs', () => given(started(), checkedIn()).when(check()).thenNothing());

  it('announces a stop once, however often it is said (C17)', () =>
    given(started(), checkedIn(), saidStopping('person')).when(stopping('person')).thenNothing());

  it('announces a stop for another reason', () =>
    given(started(), checkedIn(), saidStopping('update')).when(stopping('signal')).then(announced('signal')));

  it('announces a stop again after it ran again', () =>
    given(started(), saidStopping('person'), checkedIn()).when(stopping('person')).then(announced('person')));

  it('announces the stop of a new start', () =>
    given(started(), saidStopping('person'), started(boot(2)))
      .when(stopping('person'))
      .then(announced('person')));

  it('announces nothing without a reason, which the wire does not let through', () =>
    given(started(), checkedIn())
      .when(check({ said: 'stopping', reason: null }))
      .thenNothing());

  it('remembers the reason of a goodbye and forgets it on the next running check (O23)', () => {
    expect(lastWord.evolve({ said: 'stopping', reason: 'update' }, started(boot(2)))).toBeNull();
    expect(lastWord.evolve(null, saidStopping('update'))).toEqual({ said: 'stopping', reason: 'update' });
    expect(lastWord.evolve({ said: 'stopping', reason: 'update' }, checkedIn())).toEqual({
      said: 'running',
      reason: null,
    });
  });
});

describe('the lifecycle is what it last said, and whether it has kept checking (O23)', () => {
  it.each([
    ['nothing', 'not-yet-arrived', null],
    ['running', 'present', 'running'],
    ['running', 'absent', 'unknown'],
    ['stopping', 'present', 'stopping'],
    ['stopping', 'absent', 'stopped'],
    // not reachable by the record, and still an answer
    ['nothing', 'present', null],
    ['running', 'not-yet-arrived', null],
  ] as const)('said %s, since then %s: %s', (said, presence, expected) => {
    const word = said === 'nothing' ? null : said;
    expect(lifecycle({ said: word, presence, deleted: false })).toBe(expected);
    expect(lifecycle({ said: word, presence, deleted: true })).toBe('deleted');
  });

  it('is never stopped before the window is over, whatever was said (C17)', () => {
    for (const said of ['running', 'stopping', null] as const)
      for (const presence of ['present', 'not-yet-arrived'] as const)
        expect(lifecycle({ said, presence, deleted: false })).not.toBe('stopped');
  });

  it('is unknown and never stopped after a kill without a goodbye (C17)', () => {
    expect(lifecycle({ said: 'running', presence: 'absent', deleted: false })).toBe('unknown');
  });
});

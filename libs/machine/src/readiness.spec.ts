import { describe, expect, it } from '@jest/globals';
import { specFor } from '@rollcall/decider/testing';
import fc from 'fast-check';
import { BLOCKER_CODES, blockerOf } from './blockers.js';
import type { BlockersChanged } from './facts.js';
import { type Condition, readiness, readinessSentence } from './readiness.js';
import { check, checkedIn } from './testing/builders.js';

const given = specFor(readiness);

const changed = (...blockers: string[]): BlockersChanged => ({ type: 'BlockersChanged', blockers });
const MOMENT = { now: 0, lastCheckAt: null };
const blockedBy = (...blockers: string[]) => check({ blockers });

describe('the stored blockers', () => {
  it('change when the set differs, sorted and each once', () => {
    given()
      .when(blockedBy('disk-full', 'clock-wrong', 'disk-full'))
      .then(changed('clock-wrong', 'disk-full'));
    given(changed('clock-wrong', 'disk-full')).when(blockedBy('disk-full')).then(changed('disk-full'));
    given(changed('disk-full')).when(blockedBy('clock-wrong')).then(changed('clock-wrong'));
    given(changed('disk-full')).when(blockedBy()).then(changed());
  });

  it('do not change when the same set is said again, in any order', () => {
    given(changed('clock-wrong', 'disk-full')).when(blockedBy('disk-full', 'clock-wrong')).thenNothing();
    given().when(blockedBy()).thenNothing();
  });

  it('stay as they are while the machine has not probed yet (O25)', () => {
    given(changed('disk-full'))
      .when(check({ blockers: null }))
      .thenNothing();
    given(changed('disk-full'), checkedIn())
      .when(check({ blockers: null }))
      .thenState(['disk-full']);
  });

  it('stay as they are where a probe hangs, neither cleared nor raised, while the others are heard (O25)', () => {
    const unheard = (blockers: string[], ...notProbed: string[]) => check({ blockers, notProbed });
    given(changed('disk-full')).when(unheard([], 'disk-full')).thenNothing();
    given().when(unheard([], 'disk-full')).thenNothing();
    given(changed('clock-wrong', 'disk-full')).when(unheard([], 'disk-full')).then(changed('disk-full'));
    given(changed('disk-full'))
      .when(unheard(['clock-wrong'], 'disk-full'))
      .then(changed('clock-wrong', 'disk-full'));
    given()
      .when(unheard(['disk-full'], 'disk-full'))
      .then(changed('disk-full'));
    given(changed('disk-full'))
      .when(check({ blockers: null, notProbed: ['clock-wrong'] }))
      .thenNothing();
  });

  const ALL: readonly string[] = ['a', 'b', 'c', 'd', 'e'];

  it('hold a code after a check exactly if it was said, or stood and was not probed (O25)', () => {
    const codes = fc.uniqueArray(fc.constantFrom(...ALL));
    fc.assert(
      fc.property(codes, codes, codes, (stored, blockers, notProbed) => {
        const state = readiness.evolve([], changed(...stored.sort()));
        const said = check({ blockers, notProbed });
        const after = readiness.decide(state, said, MOMENT).reduce(readiness.evolve, state);
        expect(after).toEqual(
          ALL.filter((code) => blockers.includes(code) || (stored.includes(code) && notProbed.includes(code))),
        );
        // Said again, it changes nothing.
        expect(readiness.decide(after, said, MOMENT)).toEqual([]);
      }),
    );
  });

  it('keep a code that nobody here knows', () =>
    given(changed('disk-full')).when(blockedBy('disk-full', 'moon-phase')).then(changed('disk-full', 'moon-phase')));
});

describe('the catalogue of blockers', () => {
  it('knows the first codes', () => {
    expect(BLOCKER_CODES).toEqual([
      'stops-at-logout',
      'disk-full',
      'clock-wrong',
      'credential-unreadable',
      'duplicate-installation',
      'update-pending',
      'adoption-failed',
      'operator-paused',
    ]);
  });

  it.each(BLOCKER_CODES)('says of %s what it means, who can fix it, what it rests on and when it shows', (code) => {
    const blocker = blockerOf(code);
    expect(blocker.code).toBe(code);
    for (const text of [blocker.sentence, blocker.fix, blocker.dependsOn]) expect(text).toMatch(/^[a-z].{4,}[^.]$/);
    expect(blocker.visibleWithin).toBeGreaterThanOrEqual(30);
    expect(blocker.visibleWithin).toBeLessThanOrEqual(120);
  });

  it('lets work go on with what only informs', () => {
    expect(BLOCKER_CODES.filter((code) => !blockerOf(code).blocksWork)).toEqual(['stops-at-logout', 'update-pending']);
  });

  it('shows an unknown code as such, and lets it block', () => {
    expect(blockerOf('moon-phase')).toMatchObject({
      code: 'moon-phase',
      sentence: 'for a reason that this plane does not know',
      dependsOn: 'unknown',
      blocksWork: true,
      visibleWithin: 30,
    });
    expect(blockerOf('moon-phase').fix).toMatch(/update the plane/);
  });
});

describe('the sentence about a machine (O32)', () => {
  const running: Condition = { presence: 'present', lifecycle: 'running', stopReason: null, blockers: [] };

  it.each<[string, Partial<Condition>]>([
    ['admitted, but has not checked in yet', { presence: 'not-yet-arrived', lifecycle: null }],
    ['present', {}],
    ['present, but cannot take work: the disk is full (disk-full)', { blockers: ['disk-full'] }],
    [
      'present, but cannot take work: the clock is wrong (clock-wrong), the disk is full (disk-full)',
      { blockers: ['clock-wrong', 'disk-full'] },
    ],
    [
      'present, but cannot take work: for a reason that this plane does not know (moon-phase)',
      { blockers: ['moon-phase'] },
    ],
    ['present; note: the agent stops when its user logs out (stops-at-logout)', { blockers: ['stops-at-logout'] }],
    [
      'present, but cannot take work: the disk is full (disk-full); note: the agent stops when its user logs out (stops-at-logout)',
      { blockers: ['disk-full', 'stops-at-logout'] },
    ],
    ['present, about to stop (update)', { lifecycle: 'stopping', stopReason: 'update', blockers: ['disk-full'] }],
    ['absent, last said it was running', { presence: 'absent', lifecycle: 'unknown', blockers: ['disk-full'] }],
    ['stopped on purpose (person)', { presence: 'absent', lifecycle: 'stopped', stopReason: 'person' }],
    ['stopped on purpose', { presence: 'absent', lifecycle: 'stopped', stopReason: null }],
    ['deleted: its credential never acts again', { presence: 'present', lifecycle: 'deleted' }],
    ['deleted: its credential never acts again', { presence: 'not-yet-arrived', lifecycle: 'deleted' }],
  ])('reads "%s"', (sentence, condition) => {
    expect(readinessSentence({ ...running, ...condition })).toBe(sentence);
  });
});

import { expect, it } from '@jest/globals';
import { blockersSentence } from './blockers-sentence.js';

const NOON = Date.UTC(2026, 0, 1, 12);
const MINUTE = 60_000;
/** Codes that have stood for so many minutes; null: nobody knows for how long. */
const stood = (blockers: Record<string, number | null>) =>
  Object.entries(blockers).map(([code, minutes]) => ({
    code,
    since: minutes === null ? null : NOON - minutes * MINUTE,
  }));

const FULL = 'the disk is full (disk-full)';
const CLOCK = 'the clock is wrong (clock-wrong)';
const LOGOUT = 'the agent stops when its user logs out (stops-at-logout)';

it.each<[string, Record<string, number | null>, string[], string]>([
  ['that a machine cannot take work any more, and why', {}, ['disk-full'], `cannot take work any more: ${FULL}`],
  ['all reasons', {}, ['clock-wrong', 'disk-full'], `cannot take work any more: ${CLOCK}, ${FULL}`],
  [
    'what began beside a reason that stands',
    { 'disk-full': 9 },
    ['clock-wrong', 'disk-full'],
    `one more reason not to take work: ${CLOCK}`,
  ],
  [
    'that it can again, and how long that lasted',
    { 'disk-full': 12 },
    [],
    `can take work again; ${FULL} lasted 12 min`,
  ],
  [
    'that one reason ended and others stand',
    { 'clock-wrong': 1.5, 'disk-full': 9 },
    ['disk-full'],
    `${CLOCK} lasted 90 s; still cannot take work: ${FULL}`,
  ],
  [
    'that one reason followed another',
    { 'disk-full': 300 },
    ['clock-wrong'],
    `one more reason not to take work: ${CLOCK}; ${FULL} lasted 5 h`,
  ],
  ['what only informs, as a note', {}, ['stops-at-logout'], `note: ${LOGOUT}`],
  [
    'that a note ended, and nothing about work',
    { 'stops-at-logout': 4_320, 'disk-full': 1 },
    ['disk-full'],
    `${LOGOUT} lasted 3 days`,
  ],
  [
    'that it can take work again with a note',
    { 'disk-full': 2 },
    ['stops-at-logout'],
    `can take work again; note: ${LOGOUT}; ${FULL} lasted 2 min`,
  ],
  [
    'reasons before notes',
    { 'update-pending': 2 },
    ['disk-full', 'stops-at-logout', 'update-pending'],
    `cannot take work any more: ${FULL}; note: ${LOGOUT}`,
  ],
  [
    'that something ended which began before anybody looked',
    { 'disk-full': null },
    [],
    `can take work again; ${FULL} is over`,
  ],
  ['that nothing changed', { 'disk-full': 1 }, ['disk-full', 'disk-full'], 'reports the same blockers as before'],
])('says %s (O32)', (_, before, codes, sentence) => {
  expect(blockersSentence(stood(before), codes, NOON)).toBe(sentence);
});

it('says of a code that nobody here knows that it blocks, and that nobody here knows it (O21)', () => {
  expect(blockersSentence([], ['moon-phase'], NOON)).toBe(
    'cannot take work any more: for a reason that this plane does not know (moon-phase)',
  );
  expect(blockersSentence(stood({ 'moon-phase': 12 }), [], NOON)).toBe(
    'can take work again; moon-phase, which this plane does not know, lasted 12 min',
  );
});

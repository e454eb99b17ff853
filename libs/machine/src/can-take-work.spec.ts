import { expect, it } from '@jest/globals';
import { canTakeWork, isBlocked } from './can-take-work.js';
import type { Condition } from './readiness.js';

const fit: Omit<Condition, 'stopReason'> = { presence: 'present', lifecycle: 'running', blockers: [] };

it.each<[string, Partial<Condition>, boolean, boolean]>([
  ['is present and runs', {}, true, false],
  ['is present with what only informs', { blockers: ['stops-at-logout', 'update-pending'] }, true, false],
  ['is present with a blocker', { blockers: ['disk-full', 'stops-at-logout'] }, false, true],
  ['is present with a code that nobody here knows', { blockers: ['moon-phase'] }, false, true],
  ['is about to stop', { lifecycle: 'stopping' }, false, false],
  ['is about to stop with a blocker', { lifecycle: 'stopping', blockers: ['disk-full'] }, false, true],
  ['is absent', { presence: 'absent', lifecycle: 'unknown' }, false, false],
  ['is absent with a blocker', { presence: 'absent', lifecycle: 'unknown', blockers: ['disk-full'] }, false, false],
  ['has not arrived yet', { presence: 'not-yet-arrived', lifecycle: null }, false, false],
  ['is deleted, within its last window', { lifecycle: 'deleted', blockers: ['disk-full'] }, false, false],
])(
  'a machine that %s can take work, or is blocked, by all three answers together (O21, O32)',
  (_, changes, can, blocked) => {
    expect(canTakeWork({ ...fit, ...changes })).toBe(can);
    expect(isBlocked({ ...fit, ...changes })).toBe(blocked);
  },
);

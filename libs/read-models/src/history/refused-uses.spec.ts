import { expect, it } from '@jest/globals';
import type { HistoryEntry } from '@rollcall/wire';
import { withRefusedUses } from './refused-uses.js';

const at = (minute: number): string => new Date(Date.UTC(2026, 0, 1, 12, minute)).toISOString();
const event = (minute: number, type: string): HistoryEntry => ({
  kind: 'event',
  revision: minute,
  at: at(minute),
  type,
  actor: { kind: 'person', id: 'anna' },
  body: {},
  sentence: type,
});
const refused = (minute: number, generation = 1, code = 'credential-revoked') =>
  ({
    kind: 'refused',
    at: at(minute),
    code,
    generation,
    keyHash: `k${generation}`,
    lastAcceptedAt: null,
    sentence: `${generation} ${code} ${minute}`,
  }) as const;
const told = (entries: readonly HistoryEntry[]) => entries.map(({ sentence }) => sentence);

it('tells of refused uses where they happened, since the first line that is shown (B7)', () => {
  const lines = [event(10, 'renamed'), event(20, 'deleted')];
  const uses = [refused(9), refused(15, 1, 'generation-behind'), refused(20, 2), refused(21, 3)];
  expect(told(withRefusedUses(lines, uses))).toEqual([
    'renamed',
    '1 generation-behind 15',
    'deleted',
    '2 credential-revoked 20',
    '3 credential-revoked 21',
  ]);
});

it('tells the first and the newest refused use of each credential and reason, however many there were (B7)', () => {
  const uses = Array.from({ length: 1_000 }, (_, hour) => refused(30 + 60 * hour, 1 + (hour % 2)));
  expect(told(withRefusedUses([event(20, 'deleted')], uses))).toEqual([
    'deleted',
    ...[0, 1, 998, 999].map((hour) => uses[hour]!.sentence),
  ]);
});

import { describe, expect, it } from '@jest/globals';
import { accountAfter, type AccountEntry, type GenerationAccount } from './credential-account.js';
import type { MachineEvent } from './facts.js';
import { admitted, confirmed, deleted, forked, keyHash, registered } from './testing/builders.js';

const at = (minute: number): string => new Date(Date.UTC(2026, 0, 1, 12, minute)).toISOString();
const event = (minute: number, { type, ...body }: MachineEvent): AccountEntry => ({
  kind: 'event',
  at: at(minute),
  type,
  body,
});
const checks = (minute: number, until: number, count: number, generation = 1): AccountEntry => ({
  kind: 'checks',
  generation,
  at: at(minute),
  until: at(until),
  count,
});
const refused = (minute: number, hash: string, generation: number | null = null): AccountEntry => ({
  kind: 'refused',
  at: at(minute),
  generation,
  keyHash: hash,
});
const accountOf = (...entries: readonly AccountEntry[]) =>
  entries.reduce<readonly GenerationAccount[]>(accountAfter, []);

const JOINED = [event(0, admitted()), event(0, registered(1))];
const LIVING = [...JOINED, event(1, confirmed(1))];
const none = { confirmedAt: null, checks: null, ended: null, refused: null, copied: null };
const first = { ...none, generation: 1, keyHash: keyHash(1), registeredAt: at(0) };
const second = { ...none, generation: 2, keyHash: keyHash(2), registeredAt: at(9) };

describe('the account of a credential has for each generation (U4)', () => {
  it.each<[string, readonly AccountEntry[], readonly object[]]>([
    ['nothing before there is one', [event(0, admitted())], []],
    ['when it was registered', JOINED, [first]],
    ['its first success', LIVING, [{ ...first, confirmedAt: at(1) }]],
    [
      'how many checks it was accepted for, the first and the last',
      [...LIVING, checks(1, 3, 5), checks(4, 8, 9)],
      [{ ...first, confirmedAt: at(1), checks: { count: 14, first: at(1), last: at(8) } }],
    ],
    [
      'that it stands while the next one has not been used (O19)',
      [...LIVING, event(9, registered(2))],
      [{ ...first, confirmedAt: at(1) }, second],
    ],
    [
      'that the first success of the next one cut it (O19)',
      [...LIVING, event(9, registered(2)), event(10, confirmed(2)), checks(10, 11, 3, 2)],
      [
        { ...first, confirmedAt: at(1), ended: { how: 'cut', at: at(10) } },
        { ...second, confirmedAt: at(10), checks: { count: 3, first: at(10), last: at(11) } },
      ],
    ],
    [
      'that it was void, because another took its place before it was used (O19)',
      [...LIVING, event(9, registered(2)), event(10, registered(3))],
      [
        { ...first, confirmedAt: at(1) },
        { ...second, ended: { how: 'void', at: at(10) } },
        { ...none, generation: 3, keyHash: keyHash(3), registeredAt: at(10) },
      ],
    ],
    [
      'that it was void, because it was not used in time',
      [...LIVING, event(9, registered(2)), event(20, { type: 'PendingVoided', generation: 2 })],
      [
        { ...first, confirmedAt: at(1) },
        { ...second, ended: { how: 'void', at: at(20) } },
      ],
    ],
    [
      'that it was revoked with the machine, unless it had ended before (O31)',
      [...LIVING, event(9, registered(2)), event(10, confirmed(2)), event(11, registered(3)), event(12, deleted())],
      [
        { ...first, confirmedAt: at(1), ended: { how: 'cut', at: at(10) } },
        { ...second, confirmedAt: at(10), ended: { how: 'revoked', at: at(12) } },
        { ...none, generation: 3, keyHash: keyHash(3), registeredAt: at(11), ended: { how: 'revoked', at: at(12) } },
      ],
    ],
    [
      'its refused uses, known by its hash, the first and the last (B7)',
      [...LIVING, event(5, deleted()), refused(6, keyHash(1), 1), refused(70, keyHash(1)), refused(71, keyHash(9))],
      [
        {
          ...first,
          confirmedAt: at(1),
          ended: { how: 'revoked', at: at(5) },
          refused: { count: 2, first: at(6), last: at(70) },
        },
      ],
    ],
    [
      'that it was in use twice (B2)',
      [...LIVING, event(5, forked()), event(65, forked())],
      [{ ...first, confirmedAt: at(1), copied: { count: 2, first: at(5), last: at(65) } }],
    ],
  ])('%s', (_what, entries, accounts) => expect(accountOf(...entries)).toEqual(accounts));
});

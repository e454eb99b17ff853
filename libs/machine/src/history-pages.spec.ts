import { describe, expect, it } from '@jest/globals';
import { joinPages } from './history-pages.js';

type Entry = Parameters<typeof joinPages>[0][number];
const event: Entry = { kind: 'event' };
const gap: Entry = { kind: 'not-observed' };
const refused: Entry = { kind: 'refused' };
const checks = (count: number, until: string, more: { said?: 'stopping'; continues?: true } = {}): Entry => ({
  kind: 'checks',
  count,
  until,
  said: 'running',
  sentence: `checked in ${count} times${more.said ? ', stopping' : ''}`,
  ...more,
});
const goesOn = { continues: true } as const;

describe('two pages of a history tell together (U4)', () => {
  it.each<[string, readonly Entry[], readonly Entry[], readonly Entry[]]>([
    ['what each of them tells', [event, checks(2, 'b')], [event, gap], [event, checks(2, 'b'), event, gap]],
    [
      'one run of checks that they have parted',
      [event, checks(2, 'b')],
      [checks(3, 'd', goesOn), event],
      [event, checks(5, 'd'), event],
    ],
    [
      'one run also where what nobody observed or a refused use comes first on the later page',
      [checks(2, 'b')],
      [gap, refused, checks(3, 'd', goesOn), gap],
      [checks(5, 'd'), gap, refused, gap],
    ],
    [
      'one run also where such an entry comes last on the earlier page',
      [event, checks(2, 'b'), gap],
      [checks(3, 'd', goesOn)],
      [event, checks(5, 'd'), gap],
    ],
    [
      'one run of goodbyes',
      [checks(1, 'b', { said: 'stopping' })],
      [checks(1, 'c', { said: 'stopping', ...goesOn })],
      [checks(2, 'c', { said: 'stopping' })],
    ],
    ['two runs where the later one is another', [checks(2, 'b')], [checks(3, 'd')], [checks(2, 'b'), checks(3, 'd')]],
    ['what the later one tells where there is none before', [], [event, gap], [event, gap]],
  ])('%s', (_what, before, page, expected) => expect(joinPages(before, page)).toEqual(expected));
});

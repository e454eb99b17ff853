import type { BlockerList, BlockerSummary, EpisodeView, Readiness } from '@rollcall/wire';
import { noteAge } from './machine-view.js';
import type { Cell, Output } from './output.js';
import { clockTime, lasting, relativeTime } from './relative-time.js';

const HEAD = ['CODE', 'MACHINES', 'SINCE', 'IN ALL', 'WORK', 'SHOWS WITHIN', 'MEANING', 'TO BE FIXED BY'];

/** The blockers as a table; `all`: with what of the catalogue stands nowhere, and with what each rests on. */
export const showBlockers = (output: Output, { blockers, ...age }: BlockerList, all: boolean): void => {
  if (blockers.length === 0) output.line('Nothing keeps a machine of yours from taking work.');
  else
    output.table(
      [...HEAD, ...(all ? ['RESTS ON'] : [])],
      blockers.map((blocker) => [...summary(blocker, age.asOf), ...(all ? [blocker.dependsOn] : [])]),
    );
  noteAge(output, age);
};

const summary = (blocker: BlockerSummary, asOf: string | null): Cell[] => {
  const { code, machines, since, seconds, blocksWork, visibleWithin, sentence, fix } = blocker;
  const stands = machines > 0;
  return [
    { text: code, tone: stands ? (blocksWork ? 'bad' : 'warning') : 'quiet' },
    String(machines),
    since === null ? '' : relativeTime(since, asOf),
    stands ? lasting(seconds) : '',
    blocksWork ? 'blocked' : 'goes on',
    `${visibleWithin} s`,
    sentence,
    fix,
  ];
};

/** The episodes of one machine as a table. */
export const showEpisodes = (output: Output, { episodes, next, ...age }: Readiness): void => {
  if (episodes.length === 0) output.line('Nothing has kept this machine from taking work so far.');
  else output.table(['CODE', 'SINCE', 'UNTIL', 'LASTED', 'WORK', 'MEANING'], episodes.map(episode));
  if (next !== null) output.note('Older ones are not shown; --limit shows more.');
  noteAge(output, age);
};

const episode = ({ code, since, until, seconds, blocksWork, sentence }: EpisodeView): Cell[] => [
  code,
  clockTime(since),
  until === null ? { text: 'it stands', tone: blocksWork ? 'bad' : 'warning' } : clockTime(until),
  lasting(seconds),
  blocksWork ? 'blocked' : 'goes on',
  sentence,
];

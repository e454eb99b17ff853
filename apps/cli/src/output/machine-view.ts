import type {
  AsOf,
  MachineDetail,
  MachineList,
  MachineView,
  OlderUseView,
  PauseView,
  PromisedPresence,
  RefusedClaimsView,
} from '@rollcall/wire';
import type { Cell, Output, Tone } from './output.js';
import { clockTime, relativeTime } from './relative-time.js';

const SHORTEST_ID = 8;

/** The shortest beginnings (eight characters or more) that tell these ids apart; each of them names its machine to every command. */
export const shortIds = (ids: readonly string[]): Map<string, string> => {
  const sorted = [...ids].sort();
  return new Map(
    sorted.map((id, index) => {
      const shared = Math.max(commonLength(id, sorted[index - 1]), commonLength(id, sorted[index + 1]));
      return [id, id.slice(0, Math.max(SHORTEST_ID, shared + 1))];
    }),
  );
};

const commonLength = (id: string, other = ''): number => {
  const differs = Array.from(id).findIndex((character, index) => character !== other[index]);
  return differs === -1 ? id.length : differs;
};

/** How a list is shown. */
export type ListForm = {
  /** Some of the machines were asked for only. (Default: false) */
  readonly isNarrowed?: boolean;
  /** It stays on the screen while machines check in: of those that are present the last check is not told, because it is old at once. (Default: false) */
  readonly isLive?: boolean;
};

/** The list as a table. Presence, lifecycle and what it can do are three answers, so they are three columns. */
export const showList = (
  output: Output,
  list: Omit<MachineList, 'next'>,
  { isNarrowed = false, isLive = false }: ListForm = {},
): void => {
  if (list.machines.length === 0) {
    output.line(
      isNarrowed
        ? 'No machine matches.'
        : 'No machine is enrolled here. `rollcall token issue` makes a token that admits one.',
    );
  } else {
    const short = shortIds(list.machines.map(({ id }) => id));
    output.table(
      ['ID', 'NAME', 'HOSTNAME', 'PRESENCE', 'LIFECYCLE', 'LAST CHECK', 'AGENT', 'MEANING'],
      list.machines.map((machine) => [
        short.get(machine.id) ?? machine.id,
        machine.name ?? { text: '(unnamed)', tone: 'quiet' },
        machine.hostname ?? '',
        presence(machine),
        lifecycle(machine),
        isLive && machine.presence === 'present' ? '' : relativeTime(machine.lastCheckAt, list.asOf),
        machine.agentVersion ?? '',
        { text: machine.sentence, tone: toneOf(machine) },
      ]),
    );
  }
  noteAge(output, list);
};

/** One machine, all of it. */
export const showMachine = (output: Output, { machine, promise, olderUse, ...age }: MachineDetail): void => {
  const when = (at: string | null): string =>
    at === null ? 'never' : `${clockTime(at)} (${relativeTime(at, age.asOf)})`;
  output.fields([
    ['Id', machine.id],
    ['Name', machine.name ?? { text: '(unnamed)', tone: 'quiet' }],
    ['Hostname', machine.hostname ?? 'not reported'],
    ['State', { text: machine.sentence, tone: toneOf(machine) }],
    ['Presence', presence(machine)],
    ['Lifecycle', lifecycle(machine)],
    ['Last check', when(machine.lastCheckAt)],
    ['Takes work', machine.canTakeWork ? 'yes' : 'no'],
    ...machine.blockers.map(({ code, sentence, fix, since, blocksWork }): readonly [string, Cell] => [
      blocksWork ? 'Blocker' : 'Note',
      { text: `${code}: ${sentence}, since ${when(since)}; to be fixed by ${fix}`, tone: 'warning' },
    ]),
    ...(machine.pause === null ? [] : [['Paused', pausedAs(machine.pause)] as const]),
    ...(machine.requests.logTail === null
      ? []
      : [['Log tail', `asked for ${when(machine.requests.logTail)}; it comes after its next check`] as const]),
    ...(machine.requests.rotation === null
      ? []
      : [['Rotation', `asked for ${when(machine.requests.rotation)}; it begins with its next check`] as const]),
    ...(olderUse === null ? [] : [['Older key', olderUseAs(olderUse, when)] as const]),
    ...(machine.refusedClaims === null ? [] : [['Claims', claimsAs(machine.refusedClaims, when)] as const]),
    ...(promise === null ? [] : promised(promise)),
    ...Object.entries(machine.labels).map(([key, value]) => ['Label', `${key}=${value}`] as const),
    ['Agent', [machine.agentVersion, machine.platform].filter((part) => part !== null).join(', ') || 'not reported'],
    ['Absent after', machine.window === null ? 'its first check' : `${machine.window} s of silence`],
    ['Generation', generationAs(machine)],
    ['Owner', machine.owner],
    ['Admitted', when(machine.admittedAt)],
    ...(machine.deletedAt === null ? [] : [['Deleted', when(machine.deletedAt)] as const]),
  ]);
  noteAge(output, age);
};

const promised = ({ promises, state, next }: PromisedPresence): (readonly [string, Cell])[] => {
  const words = {
    held: { text: 'held', tone: 'good' },
    broken: { text: 'broken: it is not present', tone: 'bad' },
    'not-now': next === null ? 'nothing is promised' : `not now; promised again from ${clockTime(next)}`,
  } as const satisfies Record<typeof state, Cell>;
  return [
    ...promises.map(({ selector, schedule }) => ['Promise', `${schedule} (for ${selector})`] as const),
    ['Promise is', words[state]],
  ];
};

const generationAs = ({ generation, pendingGeneration }: MachineView): string => {
  if (generation === null) return 'none';
  return pendingGeneration === null
    ? String(generation)
    : `${generation}; ${pendingGeneration} is registered and counts from its first use`;
};

/** Whoever claims chose the name: it is quoted. */
const claimsAs = ({ count, last, hostname }: RefusedClaimsView, when: (at: string) => string): Cell => {
  const who = hostname === null ? '' : `, by one that calls itself ${JSON.stringify(hostname)}`;
  return {
    text: `others claimed to be it and were refused, ${count} noted, last ${when(last)}${who}`,
    tone: 'warning',
  };
};

const olderUseAs = ({ generation, at }: OlderUseView, when: (at: string) => string): Cell => {
  const which = generation === null ? 'an older credential' : `the credential of generation ${generation}`;
  return {
    text: `${which} was used last ${when(at)}, and refused; if whoever holds it is the right installation, delete this machine and enrol it again`,
    tone: 'warning',
  };
};

const pausedAs = ({ note, since, until, by }: PauseView): Cell => {
  const end = until === null ? 'until it is resumed' : `until ${clockTime(until)}`;
  return { text: `since ${clockTime(since)}, ${end}, by ${by}: ${note}`, tone: 'warning' };
};

/** Says how old the answer is, where it is old: an old truth must not be taken for a new one. */
export const noteAge = (output: Output, { asOf, behind }: AsOf): void => {
  if (behind)
    output.note(
      asOf === null
        ? 'Nothing of the record has been read yet.'
        : `As of ${clockTime(asOf)}: what came later is not shown yet.`,
    );
};

const presence = ({ presence }: MachineView): Cell => {
  const tones: Record<typeof presence, Tone> = { 'not-yet-arrived': 'quiet', present: 'good', absent: 'bad' };
  return { text: presence, tone: tones[presence] };
};

const lifecycle = ({ lifecycle, stopReason }: MachineView): Cell => {
  if (lifecycle === null) return '';
  return stopReason !== null && (lifecycle === 'stopping' || lifecycle === 'stopped')
    ? `${lifecycle} (${stopReason})`
    : lifecycle;
};

const toneOf = ({ presence, blockers, lifecycle }: MachineView): Tone =>
  presence === 'present' && blockers.length > 0 && lifecycle !== 'deleted' ? 'warning' : 'plain';

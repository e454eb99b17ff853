import { isBlocked } from '@rollcall/machine';
import type { AsOf, MachineList, MachineView, PresenceChange } from '@rollcall/wire';
import type { Context } from '../context.js';
import { noteAge, showList } from '../output/machine-view.js';
import { PlaneAway } from '../plane/plane.js';
import { Refused } from '../plane/problem-failure.js';
import { isNarrowed, listAll, type Filter } from './machines.js';

const STREAM = '/v1/presence/stream';
/** Before the stream is asked for again; up to twice as long, so that many who were cut off at once do not come back at once. */
const COME_BACK_AFTER_MS = 1_000;

/** One line of `machines watch --json`. */
export type Change = {
  readonly change: 'seen' | 'changed' | 'gone';
  readonly asOf: string | null;
  readonly machine: MachineView;
};

/** The machines that are watched, as they were told last, by id. */
export type Watched = {
  /** The time that all of them are at least as new as. */
  readonly asOf: string | null;
  readonly machines: ReadonlyMap<string, MachineView>;
};

/**
 * What is different in a list from what was known before. A machine that only checked in again has not changed: its `lastCheckAt` moves with
 * every check, and a line per check would bury what matters.
 */
export const changesBetween = (
  before: ReadonlyMap<string, MachineView>,
  list: Pick<MachineList, 'asOf' | 'machines'>,
): Change[] => {
  const { asOf } = list;
  const changes: Change[] = [];
  const now = new Set<string>();
  for (const machine of list.machines) {
    now.add(machine.id);
    const known = before.get(machine.id);
    if (!known) changes.push({ change: 'seen', asOf, machine });
    else if (substance(known) !== substance(machine)) changes.push({ change: 'changed', asOf, machine });
  }
  for (const [id, machine] of before) if (!now.has(id)) changes.push({ change: 'gone', asOf, machine });
  return changes;
};

const substance = (machine: MachineView): string => JSON.stringify({ ...machine, lastCheckAt: null, revision: 0 });

/** What something that the stream told means for those who are watched; null where they know as much already, or where it is none of them. */
export const changeOf = (
  { asOf: listedAt, machines }: Watched,
  { asOf, machine }: PresenceChange,
  filter: Filter,
): Change | null => {
  const known = machines.get(machine.id);
  // The list was asked for after the stream had begun, so the beginning of the stream may be older.
  if ((listedAt !== null && asOf < listedAt) || (known && machine.revision < known.revision)) return null;
  if (!isListed(machine, filter)) return known ? { change: 'gone', asOf, machine } : null;
  if (!known) return { change: 'seen', asOf, machine };
  return substance(known) === substance(machine) ? null : { change: 'changed', asOf, machine };
};

/** Whether the plane would list a machine under this filter. */
export const isListed = (
  machine: MachineView,
  { name, presence, blocker, blocked, label, deleted }: Filter,
): boolean => {
  const part = name?.toLowerCase();
  const [key = '', ...rest] = label?.split('=') ?? [];
  return (
    (deleted === true || machine.deletedAt === null) &&
    (part === undefined || [machine.name, machine.hostname].some((one) => one?.toLowerCase().includes(part))) &&
    (presence === undefined || machine.presence === presence) &&
    (blocker === undefined || machine.blockers.some(({ code }) => code === blocker)) &&
    (blocked !== true || isBlocked({ ...machine, blockers: machine.blockers.map(({ code }) => code) })) &&
    (label === undefined ||
      (Object.hasOwn(machine.labels, key) && (rest.length === 0 || machine.labels[key] === rest.join('='))))
  );
};

/** `rollcall machines watch`: a table that stays current, or a JSON object per change. Goes on through a plane that is away. */
export const watchMachines = async (filter: Filter, { output, plane, surroundings }: Context): Promise<void> => {
  const { signal, pause } = surroundings;
  const connected = await plane();
  const screen = new Screen(output, filter);
  let place: string | null = null;
  let away = false;
  for (;;) {
    try {
      for await (const { id, event, data } of connected.events(STREAM, place, signal)) {
        if (away) output.note('The plane answers again.');
        away = false;
        if (event === 'snapshot' || event === 'reset') screen.list(await listAll(connected, filter, signal));
        else if (event === 'change') screen.change(data as PresenceChange);
        else if (event === 'heard') screen.heard(data as AsOf);
        // Only now: what failed before this is told again.
        place = id ?? place;
      }
    } catch (failure) {
      if (!isPassing(failure)) throw failure;
      if (!away) output.note(`${failure.message} Still watching.`);
      away = true;
    }
    await pause(COME_BACK_AFTER_MS * (1 + Math.random()), signal);
  }
};

/** What a person or a program sees of the machines that are watched. */
class Screen {
  #age: AsOf = { asOf: null, behind: false };
  #watched: Watched & { readonly machines: Map<string, MachineView> } = { asOf: null, machines: new Map() };

  constructor(
    private readonly output: Context['output'],
    private readonly filter: Filter,
  ) {}

  list(list: Omit<MachineList, 'next'>): void {
    const changes = changesBetween(this.#watched.machines, list);
    this.#watched = { asOf: list.asOf, machines: new Map(list.machines.map((machine) => [machine.id, machine])) };
    this.#show(changes, list);
  }

  change(told: PresenceChange): void {
    const change = changeOf(this.#watched, told, this.filter);
    if (change === null) return;
    const { machines } = this.#watched;
    if (change.change === 'gone') machines.delete(change.machine.id);
    else machines.set(change.machine.id, change.machine);
    this.#show([change], { ...this.#age, asOf: told.asOf });
  }

  heard(age: AsOf): void {
    this.#show([], age);
  }

  #show(changes: readonly Change[], age: AsOf): void {
    const { output, filter } = this;
    const isOldNow = age.behind && !this.#age.behind;
    this.#age = age;
    if (output.interactive) {
      const machines = [...this.#watched.machines.values()].sort((one, other) => (one.id < other.id ? -1 : 1));
      const form = { isNarrowed: isNarrowed(filter), isLive: true };
      output.redraw(() => showList(output, { asOf: age.asOf, behind: age.behind, machines }, form));
      return;
    }
    for (const change of changes) printChange(output, change);
    if (isOldNow) noteAge(output, age);
  }
}

const printChange = (output: Context['output'], { change, asOf, machine }: Change): void => {
  if (output.asJson) return output.json({ change, asOf, machine }, 'line');
  const name = machine.name ?? machine.hostname ?? machine.id;
  output.line(
    `${asOf ?? ''} ${change === 'gone' ? `${name}: no longer listed` : `${name}: ${machine.sentence}`}`.trim(),
  );
};

const isPassing = (failure: unknown): failure is PlaneAway | Refused =>
  failure instanceof PlaneAway ||
  (failure instanceof Refused && ['unavailable', 'slow-down', 'internal'].includes(failure.code));

import type { MachineList, MachineView } from '@rollcall/wire';
import type { Context } from '../context.js';
import { showList } from '../output/machine-view.js';
import { PlaneAway, type Plane } from '../plane/plane.js';
import { Refused } from '../plane/problem-failure.js';
import { isNarrowed, listAll, type Filter } from './machines.js';

const LOOK_EVERY_MS = 2_000;

/** One line of `machines watch --json`. */
export type Change = {
  readonly change: 'seen' | 'changed' | 'gone';
  readonly asOf: string | null;
  readonly machine: MachineView;
};

/**
 * What happened between two looks. A machine that only checked in again has not changed: its `lastCheckAt` moves with every check, and
 * a line per check would bury what matters.
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

/** `rollcall machines watch`: a table that stays current, or a JSON object per change. Goes on through a plane that is away. */
export const watchMachines = async (filter: Filter, { output, plane, surroundings }: Context): Promise<void> => {
  const { signal, pause } = surroundings;
  const connected: Plane = await plane();
  let known = new Map<string, MachineView>();
  let away = false;
  for (;;) {
    try {
      const list = await listAll(connected, filter, signal);
      const changes = changesBetween(known, list);
      if (away) output.note('The plane answers again.');
      away = false;
      known = new Map(list.machines.map((machine) => [machine.id, machine]));
      if (output.interactive) output.redraw(() => showList(output, list, isNarrowed(filter)));
      else for (const change of changes) printChange(output, change);
    } catch (failure) {
      if (!isPassing(failure)) throw failure;
      if (!away) output.note(`${failure.message} Still watching.`);
      away = true;
    }
    await pause(LOOK_EVERY_MS, signal);
  }
};

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

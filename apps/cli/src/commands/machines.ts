import { randomUUID } from 'node:crypto';
import type {
  LabelAnswer,
  LogTailRequestAnswer,
  RotationRequestAnswer,
  LogTailView,
  MachineDetail,
  MachineList,
  MachineView,
  PauseAnswer,
} from '@rollcall/wire';
import type { Context } from '../context.js';
import { EXIT, Failure } from '../failure.js';
import { showList, showMachine } from '../output/machine-view.js';
import { clockTime } from '../output/relative-time.js';
import type { Plane } from '../plane/plane.js';
import { askYes } from '../session/ask.js';

/** What `machines` and `machines watch` narrow the list by. */
export type Filter = {
  readonly name?: string;
  readonly presence?: string;
  readonly blocker?: string;
  readonly blocked?: boolean;
  /** `key` or `key=value` */
  readonly label?: string;
  readonly deleted?: boolean;
};

/** Whether an empty list says nothing about what is enrolled. */
export const isNarrowed = ({ name, presence, blocker, blocked, label }: Filter): boolean =>
  [name, presence, blocker, label].some((one) => one !== undefined) || blocked === true;

/** `GET /v1/machines`, all pages of it. `asOf` is that of the oldest page, so no row is older than it says. */
export const listAll = async (
  plane: Plane,
  filter: Filter,
  signal: AbortSignal,
): Promise<Omit<MachineList, 'next'>> => {
  const machines: MachineView[] = [];
  let first: MachineList | null = null;
  let after: string | null = null;
  do {
    const query: URLSearchParams = new URLSearchParams({ limit: '500' });
    if (filter.name !== undefined) query.set('name', filter.name);
    if (filter.presence !== undefined) query.set('presence', filter.presence);
    if (filter.blocker !== undefined) query.set('blocker', filter.blocker);
    if (filter.label !== undefined) query.set('label', filter.label);
    if (filter.blocked) query.set('blocked', 'true');
    if (filter.deleted) query.set('deleted', 'true');
    if (after !== null) query.set('after', after);
    const page: MachineList = await plane.read<MachineList>(`/v1/machines?${query.toString()}`, signal);
    machines.push(...page.machines);
    first ??= page;
    after = page.next;
  } while (after !== null);
  return { asOf: first.asOf, behind: first.behind, machines };
};

/** `rollcall machines [list]` */
export const listMachines = async (filter: Filter, { output, plane, surroundings }: Context): Promise<void> => {
  const list = await listAll(await plane(), filter, surroundings.signal);
  if (output.asJson) output.json(list);
  else showList(output, list, { isNarrowed: isNarrowed(filter) });
};

/** `rollcall machines show MACHINE` */
export const showOne = async (machine: string, { output, plane, surroundings }: Context): Promise<void> => {
  const detail = await find(machine, await plane(), surroundings.signal);
  if (output.asJson) output.json(detail);
  else showMachine(output, detail);
};

/** `rollcall machines rename MACHINE NAME`: from then on no check changes the name (C02). */
export const renameMachine = async (machine: string, name: string, { output, plane }: Context): Promise<void> => {
  const renamed = await (
    await plane()
  ).write<{ machine: { id: string; name: string } }>('PATCH', pathOf(machine), {
    commandId: randomUUID(),
    name,
  });
  if (output.asJson) output.json(renamed);
  else output.line(`Machine ${renamed.machine.id} is named "${renamed.machine.name}".`);
};

/** How long a pause lasts: seconds, or a time in UTC; neither: until somebody takes it back. */
export type PauseOptions = { readonly note: string; readonly for?: number; readonly until?: string };

/** `rollcall machines pause MACHINE --note TEXT [--for DURATION | --until TIME]`: no work until then, whatever the machine says. */
export const pauseMachine = async (
  machine: string,
  options: PauseOptions,
  { output, plane }: Context,
): Promise<void> => {
  const answer = await (
    await plane()
  ).write<PauseAnswer>('POST', `${pathOf(machine)}/pause`, { commandId: randomUUID(), ...options });
  showPause(answer, output);
};

/** `rollcall machines resume MACHINE` */
export const resumeMachine = async (machine: string, { output, plane }: Context): Promise<void> => {
  const answer = await (
    await plane()
  ).write<PauseAnswer>('DELETE', `${pathOf(machine)}/pause`, { commandId: randomUUID() });
  showPause(answer, output);
};

const showPause = (answer: PauseAnswer, output: Context['output']): void => {
  const { id, pause } = answer.machine;
  if (output.asJson) output.json(answer);
  else if (pause === null) output.line(`Machine ${id} is not paused.`);
  else {
    const end = pause.until === null ? 'until it is resumed' : `until ${clockTime(pause.until)}`;
    output.line(`Machine ${id} is paused ${end}: ${pause.note}`);
  }
};

/** `rollcall machines label MACHINE KEY=VALUE … [--remove KEY …]`: the labels that are not named stay. */
export const labelMachine = async (
  machine: string,
  { set, remove }: { readonly set: readonly (readonly [string, string])[]; readonly remove: readonly string[] },
  { output, plane }: Context,
): Promise<void> => {
  if (set.length + remove.length === 0)
    throw new Failure('Nothing to change: give labels as KEY=VALUE, or --remove KEY.', EXIT.usage);
  const body = { commandId: randomUUID(), set: Object.fromEntries(set), remove };
  const answer = await (await plane()).write<LabelAnswer>('PATCH', `${pathOf(machine)}/labels`, body);
  const { id, labels } = answer.machine;
  const all = Object.entries(labels).map(([key, value]) => `${key}=${value}`);
  if (output.asJson) output.json(answer);
  else output.line(all.length === 0 ? `Machine ${id} has no label.` : `Machine ${id} is labelled ${all.join(', ')}.`);
};

/** `rollcall machines request-log MACHINE`: waits for as long as the machine is away (O26). */
export const requestLog = async (machine: string, { output, plane }: Context): Promise<void> => {
  const asked = await (
    await plane()
  ).write<LogTailRequestAnswer>('POST', `${pathOf(machine)}/log-tail-requests`, { commandId: randomUUID() });
  if (output.asJson) output.json(asked);
  else output.line(`Machine ${asked.machine.id} uploads the tail of its log after its next check.`);
};

/** `rollcall machines rotate MACHINE`: waits for as long as the machine is away, and locks it out at no time (O19, N26). */
export const rotateMachine = async (machine: string, { output, plane }: Context): Promise<void> => {
  const asked = await (
    await plane()
  ).write<RotationRequestAnswer>('POST', `${pathOf(machine)}/rotation-requests`, { commandId: randomUUID() });
  if (output.asJson) output.json(asked);
  else
    output.line(
      `Machine ${asked.machine.id} takes a new credential after its next check; the old one counts until that has succeeded.`,
    );
};

/** `rollcall machines log MACHINE`: the lines on standard output, what is to be said about them beside it. */
export const showLog = async (machine: string, { output, plane, surroundings }: Context): Promise<void> => {
  const view = await (await plane()).read<LogTailView>(`${pathOf(machine)}/log-tail`, surroundings.signal);
  if (output.asJson) {
    output.json(view);
    return;
  }
  const { tail, requested } = view;
  const waiting =
    requested === null ? null : `Asked for at ${clockTime(requested)}; it comes after the next check of the machine.`;
  if (!tail)
    throw new Failure(waiting ?? 'Nobody has asked for it: `rollcall machines request-log` does.', EXIT.notFound);
  for (const line of tail.log.replace(/\n$/, '').split('\n')) output.line(line);
  output.note(`Asked for at ${clockTime(tail.stamp)}, received at ${clockTime(tail.receivedAt)}.`);
  if (waiting !== null) output.note(waiting);
};

/** `rollcall machines delete MACHINE [--yes]`: revokes its credential for good (O31). Asks first; without a terminal it wants `--yes`. */
export const deleteMachine = async (
  machine: string,
  options: { readonly yes?: boolean },
  context: Context,
): Promise<void> => {
  const { output, surroundings } = context;
  if (!options.yes && !surroundings.stdin.isTTY)
    throw new Failure('Deleting a machine cannot be undone: confirm it with --yes.', EXIT.usage);
  const plane = await context.plane();
  const { id, name, hostname } = (await find(machine, plane, surroundings.signal)).machine;
  if (!options.yes) {
    output.note(`This deletes ${name ?? hostname ?? 'the unnamed machine'} (${id}). Its credential never works again.`);
    if (!(await askYes('Type "yes" to delete it: ', surroundings))) throw new Failure('Nothing was deleted.');
  }
  await plane.write('DELETE', pathOf(id), { commandId: randomUUID() });
  if (output.asJson) output.json({ machine: { id, name, lifecycle: 'deleted' } });
  else output.line(`Machine ${id}${name === null ? '' : ` ("${name}")`} is deleted.`);
};

/** One machine by its id, the beginning of its id, or its exact name. */
export const find = (machine: string, plane: Plane, signal: AbortSignal): Promise<MachineDetail> =>
  plane.read<MachineDetail>(pathOf(machine), signal);

/** The path of a machine that a person named. */
export const pathOf = (machine: string): string => `/v1/machines/${encodeURIComponent(machine)}`;

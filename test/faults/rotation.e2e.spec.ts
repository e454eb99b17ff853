import { afterAll, beforeAll, expect, it, jest } from '@jest/globals';
import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { MachineEvent } from '@rollcall/machine';
import { amount } from '../support/amount.js';
import { bundled, type Bundled } from '../support/bundled.js';
import type { Call } from '../support/door.js';
import { Installation } from '../support/installation.js';
import { MachineApis } from '../support/machine-apis.js';
import { Owner } from '../support/owner.js';
import { eventually, type Running } from '../support/processes.js';
import type { Task } from './programs/agent.js';

jest.setTimeout(amount({ usual: 120_000, whole: 600_000 }));

/** What can be checked in with when everything stands still. */
type Accepted = 'the old one' | 'both' | 'the new one';

/** Where a rotation is cut off, and what is accepted then. */
type Point = { readonly where: string; readonly accepted: Accepted } & (
  | /** An agent is killed after a step of its own. */ { readonly step: Task['step'] }
  | /** … while a call or its answer is on the way. */ { readonly path: string; readonly way: 'there' | 'back' }
  | /** The instance of the machine API that has the call is killed. */ {
      readonly event: MachineEvent['type'];
      readonly committed: boolean;
    }
);

const ROTATIONS = '/v1/credential/rotations';
const CHECK = '/v1/check';

const OF_THE_AGENT: readonly Point[] = [
  { where: 'agent: before anything is kept', accepted: 'the old one', step: 'begun' },
  { where: 'agent: the next secret is kept', accepted: 'the old one', step: 'stored' },
  { where: 'agent: its registration is on the way', accepted: 'the old one', path: ROTATIONS, way: 'there' },
  { where: 'agent: the answer to that is on the way', accepted: 'both', path: ROTATIONS, way: 'back' },
  { where: 'agent: it has arrived', accepted: 'both', step: 'registered' },
  { where: 'agent: the number is kept', accepted: 'both', step: 'numbered' },
  { where: 'agent: the first check with it is on the way', accepted: 'both', path: CHECK, way: 'there' },
  { where: 'agent: the answer to that check is on the way', accepted: 'the new one', path: CHECK, way: 'back' },
  { where: 'agent: that has arrived', accepted: 'the new one', step: 'used' },
  { where: 'agent: the next one is in its place', accepted: 'the new one', step: 'placed' },
];
const OF_THE_PLANE: readonly Point[] = [
  {
    where: 'machine API: the registration is decided, not committed',
    accepted: 'the old one',
    event: 'GenerationRegistered',
    committed: false,
  },
  {
    where: 'machine API: it is committed, not answered',
    accepted: 'both',
    event: 'GenerationRegistered',
    committed: true,
  },
  {
    where: 'machine API: the first check is decided, not committed',
    accepted: 'both',
    event: 'GenerationConfirmed',
    committed: false,
  },
  {
    where: 'machine API: that is committed, not answered',
    accepted: 'the new one',
    event: 'GenerationConfirmed',
    committed: true,
  },
];

/** A cell of the table: where it is cut off, and where the next start of the agent is cut off as well. null: that one lives. */
type Cell = { readonly first: Point; readonly second: Point | null };

/** Whether a start after a cut comes by another point: what is registered is not registered again, and what is in place is only checked in with. */
const comesBy = (first: Point, second: Point): boolean => {
  if (first.accepted === 'the old one') return true;
  const isChecked = 'path' in second && second.path === CHECK;
  if (isChecked) return true;
  const isPlaced = 'step' in first && first.step === 'placed';
  return !isPlaced && 'step' in second && (second.step === 'used' || second.step === 'placed');
};

const alone = (first: Point): Cell => ({ first, second: null });
const withEach = (first: Point): Cell[] =>
  OF_THE_AGENT.filter((second) => comesBy(first, second)).map((second) => ({ first, second }));

/** Each point once, every other time with a second cut at the point that comes after it; or the whole table. */
const AGENT_CELLS = amount({
  usual: OF_THE_AGENT.map((first, index) => {
    const second = OF_THE_AGENT[index + 1];
    return index % 2 === 0 && second && comesBy(first, second) ? { first, second } : alone(first);
  }),
  whole: OF_THE_AGENT.flatMap((first) => [alone(first), ...withEach(first)]),
});
/** An instance takes seconds to start again. */
const PLANE_CELLS = amount({
  usual: OF_THE_PLANE.slice(1, 3).map(alone),
  whole: OF_THE_PLANE.flatMap((first) => [alone(first), ...withEach(first).slice(0, 1)]),
});

/** An event whose turn it is waits inside of its append for a lock that a test holds. */
const HOLDING = `
  create table held (stream text, type text);
  create function hold() returns trigger security definer language plpgsql as $$
    begin
      if exists (select from held where stream = new.stream and type = new.type) then
        perform pg_advisory_xact_lock(20260101);
      end if;
      return new;
    end $$;
  create trigger hold after insert on event for each row execute function hold()`;

let begun: AsyncDisposableStack;
let apis: MachineApis;
let program: Bundled;
let owner: Owner;

beforeAll(async () => {
  begun = new AsyncDisposableStack();
  apis = begun.use(await MachineApis.start(2));
  program = begun.use(await bundled(resolve(import.meta.dirname, 'programs/agent.ts')));
  owner = begun.use(await Owner.connect(apis.database.ownerUrl));
  await owner.rows(HOLDING);
}, 120_000);
afterAll(() => begun.disposeAsync(), 60_000);

/** Starts an agent that is killed -9 at a point of its rotation to a generation; resolves when that has happened. */
const livesUntil = async (machine: Installation, point: Point, generation: number): Promise<void> => {
  const task = 'step' in point ? [program.path, JSON.stringify({ step: point.step, generation })] : undefined;
  const agent = machine.run(task);
  const end = async (call: Call): Promise<boolean> => {
    if (!('path' in point) || call.path !== point.path) return true;
    // Of the checks only those with the next one.
    if (call.path === CHECK && call.body.believes?.generation !== generation) return true;
    await kill(await agent);
    return false;
  };
  if ('path' in point && point.way === 'there') machine.door.arrives = end;
  if ('path' in point && point.way === 'back') machine.door.leaves = (call, { status }) => status !== 200 || end(call);
  expect(await (await agent).exited).toEqual({ code: null, signal: 'SIGKILL' });
  machine.door.letPass();
};

const kill = async (running: Running): Promise<void> => {
  running.signal('SIGKILL');
  await running.exited;
};

/** Lets an agent rotate until an instance of the machine API is killed -9 with its call inside; resolves to the agent, and to the instance's next start. */
const livesWhile = async (machine: Installation, point: Point & { event: string; committed: boolean }) => {
  await using gate = await Owner.connect(apis.database.ownerUrl);
  await gate.rows('select pg_advisory_lock(20260101)');
  const path = point.event === 'GenerationRegistered' ? ROTATIONS : CHECK;
  let instance = -1;
  machine.door.arrives = (call) => {
    if (call.path === path) ({ instance } = call);
    return true;
  };
  await owner.rows('insert into held values ($1, $2)', [`machine-${machine.machineId}`, point.event]);
  const agent = await machine.run();
  let backend = 0;
  await eventually('it is inside of its append', async () => {
    const [waiting] = await owner.rows<{ pid: number }>(
      `select pid from pg_locks where locktype = 'advisory' and objid = 20260101 and not granted
         and database = (select oid from pg_database where datname = current_database())`,
    );
    backend = waiting?.pid ?? 0;
    return waiting !== undefined;
  });
  // Whatever the agent tries next is not to be there before it was looked at.
  machine.door.shut();
  await kill(apis.instances[instance] as Running);
  await owner.rows('delete from held');
  if (point.committed) {
    await gate.rows('select pg_advisory_unlock(20260101)');
    await eventually(
      'it is committed',
      async () => (await owner.rows('select from pg_stat_activity where pid = $1', [backend])).length === 0,
    );
  } else await owner.terminate([backend]);
  return { agent, startedAgain: apis.startInstance(instance) };
};

/** Which generations can be checked in with; and one of them is in a file, so that nobody is locked out. */
const acceptedOf = async (machine: Installation, generation: number): Promise<Accepted> => {
  const [{ credential }, { live, next }] = await Promise.all([apis.stateOf(machine.machineId), machine.kept()]);
  const { current, pending } = credential;
  expect([live?.hash, next?.hash]).toContain(current?.keyHash);
  if (current?.generation === generation && pending === null) return 'the new one';
  expect(current?.generation).toBe(generation - 1);
  if (pending === null) return 'the old one';
  expect(pending.generation).toBe(generation);
  return 'both';
};

/** Resolves when the machine has checked in with its new generation since, which is the only one that counts, and in the one file that there is. */
const isWell = (machine: Installation, generation: number, since: number) =>
  eventually(`generation ${generation} is in its place and checks in`, async () => {
    const [{ credential }, { live, next }] = await Promise.all([apis.stateOf(machine.machineId), machine.kept()]);
    const isOnlyOne = credential.current?.generation === generation && credential.pending === null;
    const isInPlace = live?.hash === credential.current?.keyHash && live?.generation === generation && next === null;
    const checked = machine.door.accepted.slice(since);
    return isOnlyOne && isInPlace && checked.some((call) => call.credential === live?.secret);
  });

/** Goes through some cells one after the other, on one machine; resolves to what was accepted at each cut. */
const walk = async (machine: Installation, cells: readonly Cell[]): Promise<Accepted[]> => {
  const found: Accepted[] = [];
  let generation = 1;
  for (const { first, second } of cells) {
    generation += 1;
    await apis.byPerson(machine.machineId, { type: 'RequestRotation' });
    let alive: Running | null = null;
    let startedAgain: Promise<void> | null = null;
    if ('event' in first) {
      const cut = await livesWhile(machine, first);
      ({ startedAgain } = cut);
      alive = cut.agent;
      if (second) await kill(alive);
    } else await livesUntil(machine, first, generation);
    found.push(await acceptedOf(machine, generation));
    machine.door.letPass();
    if (second) {
      await livesUntil(machine, second, generation);
      await acceptedOf(machine, generation);
      alive = null;
    }
    const since = machine.door.accepted.length;
    alive ??= await machine.run();
    await isWell(machine, generation, since);
    await kill(alive);
    await startedAgain;
  }
  return found;
};

const half = (of: 0 | 1) => AGENT_CELLS.filter((_, index) => index % 2 === of);

it(`a rotation that is cut off in ${AGENT_CELLS.length + PLANE_CELLS.length} ways ends with the agent checking in: its process or the instance is killed -9 at each step, the next start as well (row 40, O19, C04)`, async () => {
  const shares = [half(0), half(1), PLANE_CELLS];
  const found = await Promise.all(
    shares.map(async (cells, index) => walk(await Installation.joined(apis, `cut-${index}`), cells)),
  );
  expect(found).toEqual(shares.map((cells) => cells.map(({ first }) => first.accepted)));
});

it('is cut off at the points that docs/faults.md lists', async () => {
  const page = await readFile(resolve(import.meta.dirname, '../../docs/faults.md'), 'utf8');
  const rows = page.split('\n').map((line) => line.split('|').map((cell) => cell.trim()));
  for (const { where, accepted } of [...OF_THE_AGENT, ...OF_THE_PLANE])
    expect(rows).toContainEqual(expect.arrayContaining([where, accepted]));
});

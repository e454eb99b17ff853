import { afterAll, beforeAll, expect, it, jest } from '@jest/globals';
import { cp, readdir, readFile, rm } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { EXIT } from '@rollcall/agent';
import { PinnedClient } from '@rollcall/pinned-https';
import { hashOf, makeSecret } from '@rollcall/wire';
import { amount } from '../support/amount.js';
import { bundled, type Bundled } from '../support/bundled.js';
import type { Call, Door } from '../support/door.js';
import { Installation } from '../support/installation.js';
import { MachineApis } from '../support/machine-apis.js';
import { Owner } from '../support/owner.js';
import { eventually, type Running } from '../support/processes.js';
import { fill, smallVolume } from '../support/small-volume.js';
import { requireSystemTool } from '../support/system-tool.js';
import {
  AGENT_CELLS,
  CHECK,
  OF_THE_AGENT,
  OF_THE_PLANE,
  PLANE_CELLS,
  ROTATIONS,
  type Accepted,
  type Cell,
  type Point,
} from './rotation-points.js';

jest.setTimeout(amount({ usual: 120_000, whole: 600_000 }));

/** Processes start by the dozen, on machines that do other things as well. */
const soon = (what: string, ask: () => Promise<boolean>) => eventually(what, ask, 60_000);

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
  await soon('it is inside of its append', async () => {
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
    await soon(
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
  soon(`generation ${generation} is in its place and checks in`, async () => {
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

/** Lets the agent run until it has checked in, and stops it. */
const checkedIn = async (machine: Installation): Promise<Installation> => {
  const agent = await machine.run();
  await soon('it checks in', () => Promise.resolve(machine.door.accepted.some(({ path }) => path === CHECK)));
  await agent.stop();
  return machine;
};

const joined = async (name: string, at?: string) => checkedIn(await Installation.joined(apis, name, at));

/** Starts eight of something; nobody's rotation passes the door before all are there. */
const eightAtOnce = async (door: Door, begin: (index: number) => Promise<Running>) => {
  const all = Promise.withResolvers<boolean>();
  door.arrives = () => all.promise;
  const running = await Promise.all(Array.from({ length: 8 }, (_, index) => begin(index)));
  all.resolve(true);
  return Promise.all(running.map(async ({ exited, output }) => ({ code: (await exited).code, output: output() })));
};

const registrations = async ({ machineId }: Installation) =>
  (await apis.store.readStream(`machine-${machineId}`)).filter(
    (fact) => fact.kind === 'event' && fact.event.type === 'GenerationRegistered',
  ).length;

it('eight processes that rotate one credential at once, through two instances, register one hash; three of them lose their answer, and the file that is left checks in at once (C05)', async () => {
  const machine = await joined('shared');
  const { live: before } = await machine.kept();
  let answers = 0;
  machine.door.leaves = () => ![2, 5, 6].includes((answers += 1));
  const asked = machine.door.calls.length;
  const ends = await eightAtOnce(machine.door, () => machine.begin('rotate'));
  machine.door.letPass();
  const ended = (wanted: number) => ends.filter(({ code }) => code === wanted).length;
  expect([ended(EXIT.ok), ended(EXIT.unreachable)]).toEqual([5, 3]);
  expect(new Set(machine.door.calls.slice(asked).map(({ instance }) => instance)).size).toBe(2);
  expect(await registrations(machine)).toBe(2);
  expect(await acceptedOf(machine, 2)).toBe('both');

  const since = machine.door.accepted.length;
  const agent = await machine.run();
  await isWell(machine, 2, since);
  // What was kept of the old one founds no second line.
  const client = new PinnedClient({ origin: machine.door.url, pins: [apis.pin] });
  const { status, body } = await client.request({
    method: 'POST',
    path: ROTATIONS,
    headers: { authorization: `Bearer ${before?.secret}`, 'content-type': 'application/json' },
    body: JSON.stringify({ credentialHash: hashOf(makeSecret('rcm')) }),
  });
  client.abandonConnections();
  expect([status, JSON.parse(body)]).toEqual([401, expect.objectContaining({ code: 'generation-behind' })]);
  await kill(agent);
});

it('eight copies of an installation that rotate at once leave the old credential and one newer one; whichever checks in first goes on alone, and the others keep what they have (C05, C01)', async () => {
  const original = await joined('original');
  const copies = await Promise.all(
    Array.from({ length: 8 }, async (_, index) => {
      const path = join(apis.directory, `copy-${index}`);
      await cp(original.path, path, { recursive: true });
      return original.at(path);
    }),
  );
  const ends = await eightAtOnce(original.door, (index) => (copies[index] as Installation).begin('rotate'));
  original.door.letPass();
  expect(ends.map(({ code }) => code)).toEqual(copies.map(() => EXIT.ok));
  const { current, pending, highest } = (await apis.stateOf(original.machineId)).credential;
  expect([current?.generation, pending?.generation, highest]).toEqual([1, 9, 9]);

  const next = await Promise.all(copies.map(async (copy) => (await copy.kept()).next?.hash));
  expect(new Set(next).size).toBe(8);
  const newest = next.indexOf(pending?.keyHash);
  const [late, first] = [copies[newest] as Installation, copies[(newest + 1) % 8] as Installation];
  // Its own next one is void by now: it falls back on the old one, and takes another.
  const since = original.door.accepted.length;
  const agent = await first.run();
  await isWell(first, 10, since);
  const before = await late.kept();
  const behind = await late.run();
  const old = () => original.door.calls.filter(({ credential }) => credential === before.live?.secret).length;
  const tried = old();
  // The second one shows that the first one was answered.
  await soon('it goes on trying with the old one', () => Promise.resolve(old() >= tried + 2));
  expect(await late.kept()).toEqual(before);
  expect((await apis.stateOf(original.machineId)).credential).toMatchObject({
    current: { generation: 10 },
    pending: null,
  });
  await Promise.all([kill(agent), kill(behind)]);
});

it('goes on with the old credential on a full disk, says so here and at the plane, and takes the next one when there is room again (row 41, O19, I11, O21)', async () => {
  const volume = await smallVolume(begun, 8 * 1_048_576);
  const machine = await Installation.joined(apis, 'full', join(volume, 'state'));
  const agent = await machine.run();
  // By its third answer it has kept what the first one said, and writes nothing while nothing changes.
  await soon('it has kept an answer', () => Promise.resolve(machine.door.accepted.length > 2));
  const ballast = join(volume, 'ballast');
  await fill(ballast);
  await apis.byPerson(machine.machineId, { type: 'RequestRotation' });
  await agent.waitFor(/The credential was not rotated; the one in use stays.*ENOSPC/);
  const blocks = async () => (await apis.stateOf(machine.machineId)).blockers.includes('credential-unreadable');
  await soon('the plane knows', blocks);
  expect((await machine.status()).problems).toContainEqual(expect.stringMatching('The next credential cannot be kept'));
  const { length } = machine.door.accepted;
  await soon('it goes on checking in', () => Promise.resolve(machine.door.accepted.length > length + 1));
  expect(await registrations(machine)).toBe(1);
  // Each of its tries has left nothing.
  expect(
    (await readdir(machine.path)).filter((name) => name.includes('rotation.lock') || name.startsWith('credential.')),
  ).toEqual([]);
  expect(await acceptedOf(machine, 2)).toBe('the old one');

  await rm(ballast);
  await isWell(machine, 2, machine.door.accepted.length);
  expect(await registrations(machine)).toBe(2);
  await soon('nothing is wrong any more', async () => !(await blocks()));
  expect((await machine.status()).problems).toEqual([]);
  await agent.stop();
});

it('registers nothing where the system says EIO or EROFS while the next credential is kept, and takes up what is in place all the same (row 41, O19, I11)', async () => {
  await requireSystemTool('strace');
  const machine = await joined('failing');
  const asked = machine.door.calls.length;
  for (const [call, failure, isInPlace] of [
    ['fsync', 'error=EIO:when=1', false],
    ['rename', 'error=EROFS:when=1', false],
    // The name is in its place by then, and nobody knows whether it stays.
    ['fsync', 'error=EIO:when=2', true],
  ] as const) {
    const { code, output } = await machine.under(
      ['strace', '-f', '-qq', '-o', '/dev/null', '-e', `trace=${call}`, '-e', `inject=${call}:${failure}`],
      'rotate',
    );
    expect([code, output]).toEqual([EXIT.fault, expect.stringContaining('The next credential cannot be kept: E')]);
    expect((await machine.kept()).next !== null).toBe(isInPlace);
    expect(await acceptedOf(machine, 2)).toBe('the old one');
  }
  expect(machine.door.calls).toHaveLength(asked);
  const { next } = await machine.kept();
  expect(await machine.command('rotate')).toMatchObject({ code: EXIT.ok });
  expect((await apis.stateOf(machine.machineId)).credential.pending?.keyHash).toBe(next?.hash);
});

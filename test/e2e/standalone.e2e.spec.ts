import { readdirSync, readFileSync } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import type { History, MachineView } from '@rollcall/wire';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { eventually, freePort, Processes, type Running } from '../support/processes.js';
import { requireSystemTool } from '../support/system-tool.js';

const root = resolve(import.meta.dirname, '../..');
const node = process.execPath;

describe('npm start', () => {
  const processes = new Processes();
  let base: string;
  let data: string;
  let ports: { machine: number; operator: number; projector: number; postgres: number; nats: number };
  let running: Running;

  beforeAll(async () => {
    await requireSystemTool('nats-server');
    base = await mkdtemp(join(tmpdir(), 'rollcall-start-'));
    data = join(base, 'data');
    ports = {
      machine: await freePort(),
      operator: await freePort(),
      projector: await freePort(),
      postgres: await freePort(),
      nats: await freePort(),
    };
  });
  afterAll(async () => {
    if (workers().plane.length > 0) await expectStops();
    await processes.close();
    await rm(base, { recursive: true, force: true });
  }, 60_000);

  const flags = (given: Partial<typeof ports> = {}) =>
    Object.entries({ ...ports, ...given }).flatMap(([name, value]) => [`--${name}-port`, String(value)]);
  const start = (extra: readonly string[] = [], options = {}) =>
    processes.start(
      'npm start',
      node,
      [
        // What the script `start` of package.json runs. Through npm, a signal to npm alone would not reach it.
        'infra/start.mjs',
        '--data',
        data,
        ...flags(),
        '--interval',
        '1',
        '--window-floor',
        '4',
        '--gap',
        '3',
        '--mark',
        '1',
        ...extra,
      ],
      { cwd: root, ...options },
    );
  const present = () => running.waitFor(/● \S+: present/, 60_000);
  /** One that a test before has left running will do: a start takes its time. */
  const startUnlessRunning = async () => {
    if (workers().plane.length > 0) return;
    running = await start();
    await present();
  };
  /** What is promised is judged by the clock, so that a failure shows how long it took. */
  const stopsInTime = async () => {
    const at = performance.now();
    await running.stop('SIGINT', 30_000);
    expect(performance.now() - at).toBeLessThan(10_000);
  };
  const expectStops = async () => {
    await stopsInTime();
    await eventually('nothing is left', () => Promise.resolve(Object.values(workers()).flat().length === 0));
  };
  const cli = (...args: readonly string[]) =>
    processes.run('rollcall', node, [join(root, 'dist/apps/cli/rollcall.mjs'), ...args], {
      env: { ROLLCALL_CONFIG_DIR: join(base, 'cli') },
    });
  const machines = async (): Promise<readonly MachineView[]> =>
    (JSON.parse((await cli('machines', '--json')).stdout) as { machines: MachineView[] }).machines;
  /** Windows are short here: on a busy machine it may be absent for a moment. */
  const isShown = (expected: Partial<MachineView> = {}) =>
    eventually('the one machine is present', async () => {
      expect(await machines()).toMatchObject([{ presence: 'present', ...expected }]);
      return true;
    });
  const events = async (id: string): Promise<readonly string[]> =>
    (JSON.parse((await cli('history', id, '--json')).stdout) as History).entries.flatMap((entry) =>
      entry.kind === 'event' ? [entry.type] : [],
    );

  /** The processes that work on the data directory, by what they are. */
  const workers = () => {
    const none = (): number[] => [];
    const found = { plane: none(), postgres: none(), nats: none(), agent: none() };
    for (const entry of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
      const command = commandOf(entry);
      if (!command.includes(data)) continue;
      if (command.includes('standalone/main.js')) found.plane.push(Number(entry));
      else if (command.includes('bin/postgres')) found.postgres.push(Number(entry));
      else if (command.includes('nats-server -c')) found.nats.push(Number(entry));
      else if (command.includes('rollcall-agent.mjs run')) found.agent.push(Number(entry));
    }
    return found;
  };
  const kill = (...pids: readonly number[]) => {
    expect(pids.length).toBeGreaterThan(0);
    for (const pid of pids) process.kill(pid, 'SIGKILL');
  };

  it('prints the addresses, a one-time link for the first person, and a line when the agent is present (U8)', async () => {
    running = await start();
    await present();
    const output = running.output();
    for (const port of [ports.machine, ports.operator, ports.projector]) expect(output).toContain(`127.0.0.1:${port}`);
    expect(output).toContain(data);
    expect(output).toContain(
      `nats://127.0.0.1:${ports.nats}, user and password in ${data}/nats/subscriber.credentials`,
    );
    const [, link = ''] = /login '([^']+)'/.exec(output) ?? [];
    expect(await cli('login', link)).toMatchObject({ code: 0 });
    expect((await cli('login', link)).output).toContain('cannot be used');
    await isShown({ lifecycle: 'running' });
  }, 180_000);

  it('brings back a nats-server that ended, and says so (U8)', async () => {
    const [first] = workers().nats;
    kill(...workers().nats);
    await running.waitFor(/The nats-server ended \(signal SIGKILL\), and is started again/);
    await eventually('another one runs', () => Promise.resolve(![undefined, first].includes(workers().nats[0])));
    await isShown();
    expect(workers().nats).toHaveLength(1);
  }, 60_000);

  it('refuses a second start on the same directory, and names the process that has it (U8)', async () => {
    const second = await start();
    expect(await second.exited).toMatchObject({ code: 1 });
    expect(second.output()).toContain(`process ${workers().plane[0]}`);
    await isShown();
  }, 60_000);

  it.each([
    ['postgres', '--postgres-port'],
    ['machine', '--machine-port'],
    ['operator', '--operator-port'],
    ['projector', '--projector-port'],
    ['nats', '--nats-port'],
  ] as const)(
    'names a taken %s port and how to choose another, and leaves nothing running (U8)',
    async (name, hint) => {
      const holder = createServer().listen(0, '127.0.0.1');
      await once(holder, 'listening');
      const { port } = holder.address() as { port: number };
      const free = {
        machine: await freePort(),
        operator: await freePort(),
        projector: await freePort(),
        postgres: await freePort(),
        nats: await freePort(),
      };
      const directory = join(base, 'taken');
      const refused = await processes.run(
        'npm start',
        node,
        ['infra/start.mjs', '--data', directory, ...flags({ ...free, [name]: port })],
        { cwd: root },
      );
      holder.close();
      expect(refused.code).toBe(1);
      expect(refused.output).toContain(String(port));
      expect(refused.output).toContain(hint);
    },
    90_000,
  );

  it.each([
    ['the plane', ({ plane }: ReturnType<typeof workers>) => plane],
    ['everything', ({ plane, ...others }: ReturnType<typeof workers>) => [...plane, ...Object.values(others).flat()]],
  ])(
    'recovers with nothing lost after kill -9 of %s (U8)',
    async (_, victims) => {
      await startUnlessRunning();
      const [machine] = await machines();
      const before = await events(machine?.id ?? '');
      kill(...victims(workers()));
      await running.exited;
      running = await start();
      await present();
      await isShown({ id: machine?.id ?? '' });
      // All that was there, in its order, and the new start after it.
      const history = await events(machine?.id ?? '');
      expect(history.slice(0, before.length)).toEqual(before);
      expect(history.slice(before.length)).toContain('AgentStarted');
    },
    180_000,
  );

  it.each([
    ['PostgreSQL', ({ postgres }: ReturnType<typeof workers>) => postgres.slice(0, 1)],
    ['the agent', ({ agent }: ReturnType<typeof workers>) => agent],
    ['NATS', ({ nats }: ReturnType<typeof workers>) => nats],
  ])(
    'still stops within ten seconds after kill -9 of %s, and the next start recovers (U8)',
    async (_, victims) => {
      await startUnlessRunning();
      kill(...victims(workers()));
      await expectStops();
      running = await start();
      await present();
      await isShown();
    },
    180_000,
  );

  it('stops in order at Ctrl-C within ten seconds, the agent saying goodbye first (U8, O17)', async () => {
    await startUnlessRunning();
    const { plane } = workers();
    const said = (await readFile(join(data, 'logs/agent.log'), 'utf8')).length;
    // As a terminal does it: everybody in the foreground gets the signal, and the wrappers pass theirs on as well.
    for (const pid of plane) process.kill(pid, 'SIGINT');
    await stopsInTime();
    expect(workers()).toEqual({ plane: [], postgres: [], nats: [], agent: [] });
    expect((await readFile(join(data, 'logs/agent.log'), 'utf8')).slice(said)).toMatch(/Said goodbye \(signal\)/);
  }, 60_000);
});

const commandOf = (pid: string): string => {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ');
  } catch {
    return '';
  }
};

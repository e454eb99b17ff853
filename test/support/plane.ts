import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { token, tokenStream } from '@rollcall/admission';
import { PostgresEventStore } from '@rollcall/event-store-postgres';
import { ensureChainKey } from '@rollcall/machine-api';
import { ensureFirstPerson, issueSignInLink, signInAddress } from '@rollcall/first-person';
import { loadOrCreateAuthority } from '@rollcall/plane-ca';
import { encodeEnrolmentToken, hashOf, makeSecret } from '@rollcall/wire';
import { freshDatabase, type FreshDatabase } from './postgres.js';
import { freePort, Processes, type Running } from './processes.js';

const root = resolve(import.meta.dirname, '../..');
const node = process.execPath;

/** Short windows, so that absence takes seconds. All in seconds. */
export const QUICK = { interval: 1, windowFloor: 3, gap: 2, mark: 0.5 } as const;

/** How often machines check in, and after how long a silence they are absent, or the plane was deaf. In seconds. */
export type Timing = { readonly [Name in keyof typeof QUICK]: number };

/** A plane of real processes from `dist`, as it runs in production: two machine APIs behind a balancer, an operator API, a projector. */
export type ProcessPlane = {
  readonly processes: Processes;
  readonly database: FreshDatabase;
  readonly store: PostgresEventStore;
  readonly personId: string;
  /** Scratch space that goes with the plane. */
  readonly directory: string;
  /** What machines call: the balancer. */
  readonly machineApi: { readonly url: string; readonly pins: readonly string[] };
  readonly machineApis: readonly Running[];
  readonly operatorApi: Running;
  readonly projector: Running;
  /** Ends all services in order, as one does who turns the plane off. */
  goAway(): Promise<void>;
  /** Starts them again where they were; resolves when every one says that it is ready. */
  comeBack(): Promise<void>;
  /** Starts one more projector, with settings of its own beside those of the plane. */
  startProjector(settings?: Readonly<Record<string, string>>): Promise<Running>;
  /** What its services are told; for one that a test starts in a way of its own. */
  readonly environment: Readonly<Record<string, string>>;
  /** A token that the first person issued, good for a day. */
  enrolmentToken(): Promise<string>;
  /** A one-time link for the first person. */
  link(): Promise<string>;
  /** Signs `rollcall` in, by its standard input: no command line shows the link. */
  signIn(link: string): Promise<{ readonly code: number | null; readonly output: string }>;
  /** Runs `rollcall`, signed in as the first person once `login` was run. */
  cli(
    ...args: readonly string[]
  ): Promise<{ readonly code: number | null; readonly stdout: string; readonly output: string }>;
  /** Runs a command of `rollcall-agent` on an installation of its own name. */
  agent(
    name: string,
    args: readonly string[],
    input?: string,
  ): Promise<{ readonly code: number | null; readonly output: string; readonly stdout: string }>;
  /** Starts a command of `rollcall-agent` that goes on for a while. */
  startAgent(name: string, args: readonly string[]): Promise<Running>;
  /** Starts `rollcall-agent run` and leaves it running. */
  runAgent(name: string): Promise<Running>;
  close(): Promise<void>;
};

/** How a plane differs from the usual one. */
export type PlaneOptions = {
  /** Settings of every service. (Default: none but those that a plane needs) */
  readonly settings?: Readonly<Record<string, string>>;
  /** Settings of the projector, as for `startProjector`. (Default: none of its own) */
  readonly projector?: Readonly<Record<string, string>>;
  /** How long a machine's connection may be quiet before the balancer ends it, in milliseconds. (Default: 500) */
  readonly quietMs?: number;
  /** Goes with the plane. (Default: one of its own on the server that all tests share) */
  readonly database?: FreshDatabase;
};

/** Starts it; resolves when every part says that it is ready. */
export const startPlane = async (
  timing: Timing = QUICK,
  { settings: ofAll = {}, projector: projectorSettings = {}, quietMs = QUIET_MS, database: given }: PlaneOptions = {},
): Promise<ProcessPlane> => {
  const processes = new Processes();
  const database = given ?? (await freshDatabase());
  const directory = await mkdtemp(join(tmpdir(), 'rollcall-plane-'));
  const chainKey = join(directory, 'chain.key');
  await ensureChainKey(chainKey);
  const { pin } = await loadOrCreateAuthority(join(directory, 'ca'));
  const store = await PostgresEventStore.connect({
    connectionString: database.url,
    applicationName: 'test',
    readers: 2,
  });
  const { personId } = await ensureFirstPerson(store, { name: 'Ada' });

  const ports = {
    machine: [await freePort(), await freePort()],
    operator: await freePort(),
  };
  const balancer = await balance(ports.machine, quietMs);
  const machineApi = { url: `https://127.0.0.1:${balancer.port}`, pins: [pin] };
  const environment = {
    ROLLCALL_DATABASE_URL: database.url,
    ROLLCALL_MIGRATIONS_DIR: join(root, 'infra/migrations'),
    ROLLCALL_CA_DIR: join(directory, 'ca'),
    ROLLCALL_CHAIN_KEY_FILE: chainKey,
    ROLLCALL_TEST_SHORT_WINDOWS: '1',
    ROLLCALL_INTERVAL_SECONDS: String(timing.interval),
    ROLLCALL_WINDOW_FLOOR_SECONDS: String(timing.windowFloor),
    ROLLCALL_GAP_SECONDS: String(timing.gap),
    ROLLCALL_MARK_SECONDS: String(timing.mark),
    ROLLCALL_MACHINE_API_ADDRESS: machineApi.url,
    ...ofAll,
  };
  const app = (name: string, ready: RegExp, env: Record<string, string>) =>
    processes.start(name, node, [join(root, `dist/apps/${name}/main.js`)], {
      env: { ...environment, ...env },
      ready,
      readyWithin: 60_000,
    });
  const startProjector = async (settings: Readonly<Record<string, string>> = {}) =>
    app('projector', /the projector follows/, { ROLLCALL_PROJECTOR_PORT: String(await freePort()), ...settings });
  const startServices = () =>
    Promise.all([
      startProjector(projectorSettings),
      app('operator-api', /the operator API answers/, { ROLLCALL_OPERATOR_API_PORT: String(ports.operator) }),
      ...ports.machine.map((port) =>
        app('machine-api', /machines can check in/, { ROLLCALL_MACHINE_API_PORT: String(port) }),
      ),
    ] as const);
  let services = await startServices();

  const cliEnvironment = { ROLLCALL_CONFIG_DIR: join(directory, 'cli'), NO_COLOR: '1' };
  const cliProgram = join(root, 'dist/apps/cli/rollcall.mjs');
  const agentEnvironment = { ROLLCALL_AGENT_INTERVAL_FLOOR_MS: '300' };
  const agentProgram = join(root, 'dist/apps/agent/rollcall-agent.mjs');
  const place = (name: string) => ['--state-dir', join(directory, name)];
  return {
    processes,
    database,
    store,
    personId,
    directory,
    machineApi,
    get machineApis() {
      const [, , ...machineApis] = services;
      return machineApis;
    },
    get operatorApi() {
      return services[1];
    },
    get projector() {
      return services[0];
    },
    goAway: async () => {
      await Promise.all(services.map((service) => service.stop('SIGTERM', 20_000)));
    },
    comeBack: async () => {
      services = await startServices();
    },
    startProjector,
    environment,
    enrolmentToken: async () => {
      const secret = makeSecret('rce');
      await store.decide(
        token,
        { stream: tokenStream(randomUUID()) },
        { type: 'IssueToken', tokenHash: hashOf(secret), owner: personId, name: null, expiresIn: 86_400 },
        { actor: { kind: 'person', id: personId } },
      );
      return encodeEnrolmentToken({ address: machineApi.url, pins: machineApi.pins, secret });
    },
    link: async () => {
      const { secret } = await issueSignInLink(store, personId);
      return signInAddress(secret, { operatorApi: `https://127.0.0.1:${ports.operator}`, pins: [pin] });
    },
    signIn: (link) =>
      processes.run('rollcall login', node, [cliProgram, 'login'], { env: cliEnvironment, input: `${link}\n` }),
    cli: (...args) => processes.run('rollcall', node, [cliProgram, ...args], { env: cliEnvironment }),
    agent: (name, [command = '', ...args], input) =>
      processes.run(`rollcall-agent ${command}`, node, [agentProgram, command, ...place(name), ...args], {
        env: agentEnvironment,
        ...(input === undefined ? {} : { input }),
      }),
    startAgent: (name, [command = '', ...args]) =>
      processes.start(`rollcall-agent ${command}`, node, [agentProgram, command, ...place(name), ...args], {
        env: agentEnvironment,
      }),
    runAgent: (name) =>
      processes.start('rollcall-agent run', node, [agentProgram, 'run', ...place(name)], {
        env: agentEnvironment,
        ready: /is running, process/,
      }),
    close: async () => {
      try {
        await processes.close();
      } finally {
        await Promise.all([store.close(), balancer.close()]);
        await Promise.all([database.drop(), rm(directory, { recursive: true, force: true })]);
      }
    },
  };
};

/** How long a connection may be quiet before the balancer ends it: below the interval, so that the next check lands elsewhere. */
const QUIET_MS = 500;
/** What a machine says of itself and says again before there can be an answer: the hello of TLS, and then its end with the request. */
const BURSTS_OF_A_REQUEST = 2;

/** Where all machines come from, as the plane sees it: an address that occurs nowhere else (O2). */
export const MACHINE_ADDRESS = '127.0.0.77';

/** Connections go to the upstreams in turn, and come from that address. */
export const balance = async (
  upstreams: readonly number[],
  quietMs: number,
): Promise<{ port: number; close(): Promise<void> }> => {
  let turn = 0;
  const open = new Set<Socket>();
  const server: Server = createServer((incoming) => {
    open.add(incoming);
    incoming.on('error', () => undefined);
    incoming.on('close', () => open.delete(incoming));
    // As a balancer does: a machine that waits for its answer is not quiet, however long that takes.
    let bursts = 0;
    let isAnswered = true;
    incoming.setTimeout(quietMs, () => {
      if (isAnswered && bursts >= BURSTS_OF_A_REQUEST) incoming.destroy();
      else incoming.setTimeout(quietMs);
    });
    const join = (left: number) => {
      const port = upstreams[turn % upstreams.length] as number;
      turn += 1;
      const upstream = connect({ port, host: '127.0.0.1', localAddress: MACHINE_ADDRESS });
      open.add(upstream);
      incoming.once('close', () => upstream.destroy());
      upstream.on('error', () => undefined);
      upstream.once('connect', () => {
        incoming.on('data', () => {
          if (isAnswered) bursts += 1;
          isAnswered = false;
        });
        upstream.on('data', () => (isAnswered = true));
        incoming.pipe(upstream).pipe(incoming);
      });
      upstream.once('close', () => {
        open.delete(upstream);
        // One that does not listen has heard nothing: the next one is asked.
        if (upstream.bytesRead === 0 && upstream.bytesWritten === 0 && left > 1 && !incoming.destroyed) join(left - 1);
        else incoming.destroy();
      });
    };
    join(upstreams.length);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  const close = async () => {
    server.close();
    for (const socket of open) socket.destroy();
    await once(server, 'close');
  };
  return { port, close };
};

import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { createServer } from 'node:net';
import { randomInt, randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';

/** The same programs are started hundreds of times. */
const COMPILED = join(import.meta.dirname, '../../node_modules/.cache/rollcall/compiled');

/** How a process ended: one of the two is null. */
export type Exit = { readonly code: number | null; readonly signal: NodeJS.Signals | null };

export type StartOptions = {
  /** Added to a small environment of `PATH`, `HOME` and where Node keeps compiled code; nothing else of the test's own environment leaks in. */
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
  /** Written to standard input, which is then closed. (Default: standard input is empty.) */
  readonly input?: string;
  /**
   * When the process counts as started: a line of its output, or a question that is asked until the answer is true (a throw counts
   * as "not yet"). (Default: at once.)
   */
  readonly ready?: RegExp | (() => Promise<boolean>);
  /** How long readiness may take, in milliseconds. (Default: 20,000.) */
  readonly readyWithin?: number;
};

/** A process that a test started. */
export type Running = {
  readonly name: string;
  readonly pid: number;
  /** All that it wrote so far, standard output and standard error together. */
  output(): string;
  /** What it wrote to standard output alone. */
  stdout(): string;
  /** Resolves when it has ended. */
  readonly exited: Promise<Exit>;
  /** Resolves to the match once the output holds one; throws, with the output, when the process ends or the time is over first. */
  waitFor(pattern: RegExp, withinMs?: number): Promise<RegExpExecArray>;
  /** Sends a signal without waiting. */
  signal(signal: NodeJS.Signals): void;
  /** Asks it to end (Default: SIGTERM) and waits. Throws when it had to be killed after `withinMs` (Default: 10,000). */
  stop(signal?: NodeJS.Signals, withinMs?: number): Promise<Exit>;
};

const MARK = 'ROLLCALL_TEST_PROCESSES';
const POLL_MS = 25;

/**
 * Below the ports that the kernel gives to whoever asks for any: one of those may be somebody's connection by the time it is used. Each
 * process of jest has ports of its own, and another test run begins elsewhere in them. Browsers refuse 10080.
 */
const PORTS = { lowest: 11_000, perProcess: 2_000, processes: 10 };
const firstPort =
  PORTS.lowest + ((Number(process.env['JEST_WORKER_ID'] ?? 1) - 1) % PORTS.processes) * PORTS.perProcess;
let nextPort = randomInt(PORTS.perProcess);

/** A TCP port of the loopback that nobody listened on a moment ago, and that no call here has returned lately. */
export const freePort = async (): Promise<number> => {
  for (let tried = 0; tried < PORTS.perProcess; tried += 1) {
    const port = firstPort + (nextPort++ % PORTS.perProcess);
    const probe = createServer().listen(port, '127.0.0.1');
    const isFree = await once(probe, 'listening').then(
      () => true,
      () => false,
    );
    if (!isFree) continue;
    probe.close();
    await once(probe, 'close');
    return port;
  }
  throw new Error(`No port is free from ${firstPort} on`);
};

/**
 * Asks until the answer is true, or gives up with the last error. For readiness of another process, where nothing announces it.
 */
export const eventually = async (
  what: string,
  ask: () => Promise<boolean>,
  withinMs = 20_000,
  abandoned?: AbortSignal,
): Promise<void> => {
  const deadline = performance.now() + withinMs;
  let last: unknown;
  for (;;) {
    try {
      if (await ask()) return;
      last = undefined;
    } catch (error) {
      last = error;
    }
    if (performance.now() > deadline) throw new Error(`${what}: not within ${withinMs} ms`, { cause: last });
    await wait(POLL_MS, undefined, abandoned ? { signal: abandoned } : {});
  }
};

/**
 * The processes of one test file. Make it first, `await using` it or call `close` in `afterAll`: it ends what still runs, and fails
 * when a process had to be killed or left another behind.
 */
export class Processes implements AsyncDisposable {
  readonly #mark = randomUUID();
  readonly #running = new Set<Running>();

  /** Starts a program and waits until it is ready; a program that ends before that fails with its output. */
  async start(name: string, command: string, args: readonly string[], options: StartOptions = {}): Promise<Running> {
    const { PATH = '', HOME = '/' } = process.env;
    const child = spawn(command, args, {
      cwd: options.cwd,
      env: { PATH, HOME, NODE_COMPILE_CACHE: COMPILED, ...options.env, [MARK]: this.#mark },
      stdio: ['pipe', 'pipe', 'pipe'],
    });
    const running = await watch(name, child);
    this.#running.add(running);
    void running.exited.then(() => this.#running.delete(running));
    // A program that ends without reading its input closes the pipe; how it ended says more than EPIPE.
    child.stdin.on('error', () => {});
    child.stdin.end(options.input ?? '');
    const { ready, readyWithin } = options;
    if (ready instanceof RegExp) await running.waitFor(ready, readyWithin);
    else if (ready) await answering(running, ready, readyWithin);
    return running;
  }

  /** Runs a program to its end. */
  async run(name: string, command: string, args: readonly string[], options: StartOptions = {}) {
    const running = await this.start(name, command, args, options);
    const exit = await running.exited;
    return { ...exit, output: running.output(), stdout: running.stdout() };
  }

  /** Ends everything, the youngest first. Throws when something had to be killed, or is still there. */
  async close(): Promise<void> {
    const problems: string[] = [];
    for (const running of [...this.#running].toReversed())
      await running.stop().catch((error: unknown) => problems.push(String(error)));
    for (const { pid, command } of survivors(this.#mark)) {
      problems.push(`left behind: ${pid} ${command}`);
      process.kill(pid, 'SIGKILL');
    }
    if (problems.length > 0) throw new Error(problems.join('\n'));
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}

/** Asks until the answer is yes, and stops asking once the process has ended. */
const answering = async (running: Running, ready: () => Promise<boolean>, withinMs?: number) => {
  const ended = new AbortController();
  const exit = running.exited.then((how) => {
    ended.abort();
    return fail(running, `ended before it was ready (${describeExit(how)})`);
  });
  const asked = eventually(`${running.name} is ready`, ready, withinMs, ended.signal).catch((error: unknown) =>
    ended.signal.aborted ? exit : fail(running, 'did not get ready', error),
  );
  await Promise.race([asked, exit]);
};

const describeExit = ({ code, signal }: Exit) => (signal ? `signal ${signal}` : `exit code ${code}`);

const fail = (running: Running, what: string, cause?: unknown): never => {
  throw new Error(`${running.name} ${what}. It wrote:\n${running.output()}`, { cause });
};

const watch = async (name: string, child: ChildProcess): Promise<Running> => {
  const chunks: { readonly isError: boolean; readonly text: string }[] = [];
  const listeners = new Set<() => void>();
  const collect = (isError: boolean) => (text: string) => {
    chunks.push({ isError, text });
    for (const listener of listeners) listener();
  };
  child.stdout?.setEncoding('utf8').on('data', collect(false));
  child.stderr?.setEncoding('utf8').on('data', collect(true));
  // `close` comes after the streams have ended, so the output is complete then.
  const exited = new Promise<Exit>((resolve) => child.once('close', (code, signal) => resolve({ code, signal })));
  await Promise.race([once(child, 'spawn'), once(child, 'error').then(([error]) => Promise.reject(error as Error))]);
  const { pid } = child;
  if (pid === undefined) throw new Error(`${name} has no process id`);

  const running: Running = {
    name,
    pid,
    output: () => chunks.map(({ text }) => text).join(''),
    stdout: () => chunks.map(({ isError, text }) => (isError ? '' : text)).join(''),
    exited,
    signal: (signal) => void child.kill(signal),
    async waitFor(pattern, withinMs = 20_000) {
      const find = () => new RegExp(pattern.source, pattern.flags.replaceAll(/[gy]/g, '')).exec(running.output());
      const abandon = new AbortController();
      let listener = () => {};
      try {
        return await Promise.race([
          new Promise<RegExpExecArray>((resolve) => {
            listener = () => {
              const match = find();
              if (match) resolve(match);
            };
            listeners.add(listener);
            listener();
          }),
          exited.then((exit) => find() ?? fail(running, `ended (${describeExit(exit)}) before it wrote ${pattern}`)),
          wait(withinMs, undefined, { signal: abandon.signal }).then(() =>
            fail(running, `did not write ${pattern} in ${withinMs} ms`),
          ),
        ]);
      } finally {
        listeners.delete(listener);
        abandon.abort();
      }
    },
    async stop(signal = 'SIGTERM', withinMs = 10_000) {
      const abandon = new AbortController();
      child.kill(signal);
      const overdue = wait(withinMs, 'overdue' as const, { signal: abandon.signal }).catch(() => 'overdue' as const);
      const outcome = await Promise.race([exited, overdue]);
      abandon.abort();
      if (outcome !== 'overdue') return outcome;
      child.kill('SIGKILL');
      // Not longer than that: what it left behind may hold its streams open, and is reported by `close`.
      await Promise.race([exited, wait(1_000)]);
      return fail(running, `did not end within ${withinMs} ms after ${signal} and was killed`);
    },
  };
  return running;
};

/** The living processes that carry a mark in their environment: a daemon that left its parent is found as well. */
const survivors = (mark: string) =>
  readdirSync('/proc')
    .filter((entry) => /^\d+$/.test(entry))
    .flatMap((entry) => {
      try {
        if (!readFileSync(`/proc/${entry}/environ`, 'utf8').includes(`${MARK}=${mark}`)) return [];
        readlinkSync(`/proc/${entry}/exe`); // Fails for a zombie, which is dead already.
        return [{ pid: Number(entry), command: readFileSync(`/proc/${entry}/cmdline`, 'utf8').replaceAll('\0', ' ') }];
      } catch {
        return []; // It ended while we looked, or belongs to somebody else.
      }
    });

/** What keeps a Node process open, beyond its standard streams. */
const OPEN = new Set(['TCPSocketWrap', 'TCPServerWrap', 'UDPWrap', 'ProcessWrap', 'Timeout', 'FSEventWrap']);

/**
 * Notes what this process holds open now; the returned function resolves to the names of what came on top since and is still there
 * after a second, in which closed handles are let go. For `beforeAll` and `afterAll`: outside of a hook the timer with which jest watches
 * a hook would count as one more.
 */
export const openHandles = (): (() => Promise<readonly string[]>) => {
  const before = count();
  const added = () =>
    [...count()].flatMap(([kind, now]) => {
      const more = now - (before.get(kind) ?? 0);
      return more > 0 ? [`${more} ${kind}`] : [];
    });
  return async () => {
    for (let turn = 0; turn < 40 && added().length > 0; turn += 1) await wait(POLL_MS);
    return added();
  };
};

const count = () => {
  const counts = new Map<string, number>();
  for (const kind of process.getActiveResourcesInfo())
    if (OPEN.has(kind)) counts.set(kind, (counts.get(kind) ?? 0) + 1);
  return counts;
};

import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import type { DataDirectory } from './data-directory.js';

/** The part of `rollcall-agent status --json` that matters here. */
type AgentStatus = {
  readonly running: boolean;
  readonly pid: number | null;
  readonly state: string;
  readonly sentence: string;
  readonly stoppedByPersonSince: string | null;
  readonly machine: { readonly id: string } | null;
};

const LOOK_MS = 100;
const START_LOOKS = 100;
const STOP_MS = 7_000;

/** The local agent: the very program that runs on any other machine, as a process of its own. */
export class LocalAgent {
  private daemon: ChildProcess | null = null;

  constructor(
    private readonly program: string,
    private readonly directory: Pick<DataDirectory, 'agent' | 'agentRuntime' | 'logs'>,
    private readonly environment: NodeJS.ProcessEnv,
  ) {}

  /** @throws Error with the agent's own words when it cannot say, for example while it is just starting; or when the signal aborts. */
  async status(signal: AbortSignal): Promise<AgentStatus> {
    const { output } = await this.call(['status', '--json'], { signal });
    if (!output.startsWith('{')) throw new Error(output.trim());
    return JSON.parse(output) as AgentStatus;
  }

  /**
   * Enrols it with a token, which goes to standard input like anybody's. Not interrupted: cut short, it would leave a machine at the
   * plane that never arrives.
   *
   * @throws Error with the agent's own words.
   */
  async enrol(token: string): Promise<void> {
    const { code, output } = await this.call(['enrol'], { input: token });
    if (code !== 0) throw new Error(`The local agent could not enrol:\n${output.trim()}`);
  }

  /**
   * Starts the daemon. One that a killed plane left behind is told to stop first, so that there is one and it is ours.
   *
   * @throws Error when it does not come up, or when the signal aborts; `stop` ends what was started until then.
   */
  async start(signal: AbortSignal): Promise<void> {
    const left = await this.status(signal);
    if (left.running && left.pid !== null) await endOf(left.pid, signal);
    signal.throwIfAborted();
    const log = openSync(join(this.directory.logs, 'agent.log'), 'a', 0o600);
    // A session of its own: the Ctrl-C of this terminal must not reach it, it is stopped in its turn.
    const daemon = spawn(process.execPath, [this.program, 'run', ...this.place], {
      detached: true,
      stdio: ['ignore', log, log],
      env: this.environment,
    });
    closeSync(log);
    this.daemon = daemon;
    for (let look = 0; look < START_LOOKS; look += 1) {
      await wait(LOOK_MS, undefined, { signal });
      if (hasEnded(daemon))
        throw new Error(`The local agent did not start; see ${join(this.directory.logs, 'agent.log')}`);
      const answers = await this.status(signal).then(
        ({ running }) => running,
        () => false,
      );
      if (answers) return;
    }
    throw new Error(`The local agent does not answer; see ${join(this.directory.logs, 'agent.log')}`);
  }

  /** Ends it as an operating system would: it says goodbye by itself. Resolves when it is gone, or was never there. */
  async stop(): Promise<void> {
    const daemon = this.daemon;
    this.daemon = null;
    if (!daemon || hasEnded(daemon)) return;
    const gone = once(daemon, 'exit');
    daemon.kill('SIGTERM');
    const late = setTimeout(() => daemon.kill('SIGKILL'), STOP_MS);
    await gone;
    clearTimeout(late);
  }

  private get place(): readonly string[] {
    return ['--state-dir', this.directory.agent, '--runtime-dir', this.directory.agentRuntime];
  }

  private async call(
    args: readonly string[],
    { input = '', signal }: { readonly input?: string; readonly signal?: AbortSignal },
  ): Promise<{ code: number; output: string }> {
    const child = spawn(process.execPath, [this.program, ...args, ...this.place], {
      // Out of reach of the terminal's Ctrl-C, like the daemon.
      detached: true,
      stdio: ['pipe', 'pipe', 'pipe'],
      env: this.environment,
      ...(signal ? { signal } : {}),
    });
    let output = '';
    child.stdout.on('data', (chunk) => (output += String(chunk)));
    child.stderr.on('data', (chunk) => (output += String(chunk)));
    child.stdin.on('error', () => undefined);
    child.stdin.end(input);
    const [code] = (await once(child, 'close')) as [number | null];
    return { code: code ?? 1, output };
  }
}

const hasEnded = (child: ChildProcess): boolean => child.exitCode !== null || child.signalCode !== null;

/** Makes a process that we did not start end: asks it, and does not ask again. */
const endOf = async (pid: number, signal: AbortSignal): Promise<void> => {
  if (!send(pid, 'SIGTERM')) return;
  const until = performance.now() + STOP_MS;
  while (performance.now() < until) {
    await wait(LOOK_MS, undefined, { signal });
    if (!send(pid, 0)) return;
  }
  send(pid, 'SIGKILL');
};

/** False where there is no such process. */
const send = (pid: number, signal: NodeJS.Signals | 0): boolean => {
  try {
    return process.kill(pid, signal);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ESRCH') return false;
    throw error;
  }
};

import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';

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
    private readonly stateDirectory: string,
    private readonly logDirectory: string,
    private readonly environment: NodeJS.ProcessEnv,
  ) {}

  /** @throws Error with the agent's own words when it cannot say, for example while it is just starting. */
  async status(): Promise<AgentStatus> {
    const { output } = await this.call(['status', '--json']);
    if (!output.startsWith('{')) throw new Error(output.trim());
    return JSON.parse(output) as AgentStatus;
  }

  /** Enrols it with a token, which goes to standard input like anybody's. @throws Error with the agent's own words. */
  async enrol(token: string): Promise<void> {
    const { code, output } = await this.call(['enrol'], token);
    if (code !== 0) throw new Error(`The local agent could not enrol:\n${output.trim()}`);
  }

  /** Starts the daemon. One that a killed plane left behind is told to stop first, so that there is one and it is ours. */
  async start(): Promise<void> {
    const left = await this.status();
    if (left.running && left.pid !== null) await endOf(left.pid);
    const log = openSync(join(this.logDirectory, 'agent.log'), 'a', 0o600);
    // A session of its own: the Ctrl-C of this terminal must not reach it, it is stopped in its turn.
    const daemon = spawn(process.execPath, [this.program, 'run', '--state-dir', this.stateDirectory], {
      detached: true,
      stdio: ['ignore', log, log],
      env: this.environment,
    });
    closeSync(log);
    this.daemon = daemon;
    for (let look = 0; look < START_LOOKS; look += 1) {
      await wait(LOOK_MS);
      if (hasEnded(daemon))
        throw new Error(`The local agent did not start; see ${join(this.logDirectory, 'agent.log')}`);
      const answers = await this.status().then(
        ({ running }) => running,
        () => false,
      );
      if (answers) return;
    }
    throw new Error(`The local agent does not answer; see ${join(this.logDirectory, 'agent.log')}`);
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

  private async call(args: readonly string[], input = ''): Promise<{ code: number; output: string }> {
    const child = spawn(process.execPath, [this.program, ...args, '--state-dir', this.stateDirectory], {
      stdio: ['pipe', 'pipe', 'pipe'],
      env: this.environment,
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

/** Asks a process that we did not start to end, and waits until it has. */
const endOf = async (pid: number): Promise<void> => {
  const until = performance.now() + STOP_MS;
  try {
    process.kill(pid, 'SIGTERM');
    while (performance.now() < until) {
      await wait(LOOK_MS);
      process.kill(pid, 0);
    }
  } catch {
    return; // gone
  }
  throw new Error(`Process ${pid}, an agent on this directory, does not end`);
};

import { mkdir } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { readCredential, stateDirectory } from '@rollcall/agent/testing';
import type { AgentStatus } from '@rollcall/agent';
import { hashOf } from '@rollcall/wire';
import type { Door } from './door.js';
import type { MachineApis } from './machine-apis.js';
import type { Running } from './processes.js';

const AGENT = resolve(import.meta.dirname, '../../dist/apps/agent/rollcall-agent.mjs');
/** Checks may follow each other quickly, so that a test waits for work and not for the clock. */
const ENVIRONMENT = { ROLLCALL_AGENT_INTERVAL_FLOOR_MS: '100', ROLLCALL_AGENT_PROBE_INTERVAL_MS: '500' };

/** An installation of the shipped agent, of which each command is a process, behind a door of its own. */
export class Installation {
  /** The machine that it is; empty before it has joined. */
  machineId = '';

  constructor(
    readonly apis: MachineApis,
    readonly door: Door,
    /** Its state directory. */
    readonly path: string,
  ) {}

  /** Makes one that has not joined. @param at its state directory (Default: one in the scratch space) */
  static async make(apis: MachineApis, name: string, at = join(apis.directory, name)): Promise<Installation> {
    await mkdir(at, { recursive: true, mode: 0o700 });
    return new Installation(apis, await apis.door(), at);
  }

  /** Makes one, and lets it join with a token. */
  static async joined(apis: MachineApis, name: string, at?: string): Promise<Installation> {
    const installation = await Installation.make(apis, name, at);
    const { code, output } = await installation.enrol();
    if (code !== 0) throw new Error(`It has not joined: ${output}`);
    return installation;
  }

  /** Joins with a token of its own. */
  async enrol(token?: string) {
    const ended = await this.command('enrol', [], `${token ?? (await this.apis.token(this.door))}\n`);
    this.machineId = /\(?([0-9a-f]{8}-[0-9a-f-]{27})\)?/.exec(ended.stdout)?.[1] ?? '';
    return ended;
  }

  /** Runs a command to its end. */
  command(name: string, args: readonly string[] = [], input?: string) {
    return this.apis.processes.run(`rollcall-agent ${name}`, process.execPath, this.#argv(name, args), {
      env: ENVIRONMENT,
      ...(input === undefined ? {} : { input }),
    });
  }

  /** Starts a command that goes on for a while. */
  begin(name: string, args: readonly string[] = []): Promise<Running> {
    const argv = this.#argv(name, args);
    return this.apis.processes.start(`rollcall-agent ${name}`, process.execPath, argv, { env: ENVIRONMENT });
  }

  /** Starts the daemon. @param program one that a test has made of it, with its arguments (Default: the shipped one) */
  run(program?: readonly string[]): Promise<Running> {
    if (!program) return this.begin('run');
    const argv = [...program, this.path];
    return this.apis.processes.start('agent under test', process.execPath, argv, { env: ENVIRONMENT });
  }

  /** The same machine, out of a copy of its state directory. */
  at(path: string): Installation {
    const copy = new Installation(this.apis, this.door, path);
    copy.machineId = this.machineId;
    return copy;
  }

  /** Runs a command under another program, with one thread for its files, so that their calls come in order. */
  under([program, ...args]: readonly [string, ...string[]], name: string) {
    const argv = [...args, process.execPath, ...this.#argv(name, [])];
    const env = { ...ENVIRONMENT, UV_THREADPOOL_SIZE: '1' };
    return this.apis.processes.run(`${program} rollcall-agent ${name}`, program, argv, { env });
  }

  async status(): Promise<AgentStatus> {
    return JSON.parse((await this.command('status', ['--json'])).stdout) as AgentStatus;
  }

  /** What it could check in with: the generations of its two files, and the hashes of their secrets. null: no such file. */
  async kept() {
    const { credential, nextCredential } = stateDirectory({ stateDir: this.path }, {});
    const [live, next] = await Promise.all([credential, nextCredential].map((path) => readCredential(path)));
    const told = (reading: typeof live) =>
      reading?.state === 'whole'
        ? { generation: reading.key.generation, hash: hashOf(reading.key.secret), secret: reading.key.secret }
        : null;
    return { live: told(live), next: told(next) };
  }

  #argv(name: string, args: readonly string[]): string[] {
    return [AGENT, name, '--state-dir', this.path, ...args];
  }
}

import { callControl, type ControlAnswer } from '@rollcall/local-control';
import { readPrivateFile } from '@rollcall/secret-file';
import type { AgentStatus } from '../daemon/agent-status.js';
import type { ToldRotation } from '../rotation/rotate.js';
import type { StateDirectory } from '../installation/state-directory.js';

/** It may wait for another process that rotates, and then for the plane. */
const ROTATION_TIMEOUT_MS = 60_000;

/** The daemon of this installation, if one is running. */
export class LocalDaemon {
  readonly #directory: StateDirectory;

  constructor(directory: StateDirectory) {
    this.#directory = directory;
  }

  /** null: no daemon is running. */
  async status(): Promise<AgentStatus | null> {
    const answer = await this.#call('GET', '/v1/status');
    return answer === null ? null : (answer.body as AgentStatus);
  }

  /** There is a new credential. null: no daemon is running. */
  async reload(): Promise<AgentStatus | null> {
    const answer = await this.#call('POST', '/v1/reload', {});
    return answer === null ? null : (answer.body as AgentStatus);
  }

  /** Has it rotate the credential, and waits for what comes of it. null: no daemon is running. */
  async rotate(): Promise<ToldRotation | null> {
    const answer = await this.#call('POST', '/v1/rotate', {}, ROTATION_TIMEOUT_MS);
    return answer === null ? null : (answer.body as ToldRotation);
  }

  /** Asks it to stop; the answer comes before the stop. @returns its process id, or null when no daemon is running */
  async stop(reason: string): Promise<number | null> {
    const answer = await this.#call('POST', '/v1/stop', { reason });
    return answer === null ? null : (answer.body as { pid: number }).pid;
  }

  async #call(method: 'GET' | 'POST', path: string, body?: unknown, timeoutMs?: number): Promise<ControlAnswer | null> {
    const token = (await readPrivateFile(this.#directory.controlToken, 256))?.toString('utf8').trim() ?? '';
    const call = { socketPath: this.#directory.socket, token, method, path, body };
    const answer = await callControl(timeoutMs === undefined ? call : { ...call, timeoutMs });
    if (answer === null || answer.status < 300) return answer;
    // No token yet, or the one of the run before: the daemon is only just starting or ending.
    if (answer.status === 401) throw new DaemonBusy('The running agent does not take the local token; try again.');
    throw new Error(`The running agent answered ${answer.status}`);
  }
}

/** A daemon listens, but cannot be talked to right now. */
export class DaemonBusy extends Error {}

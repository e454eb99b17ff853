import { FarSide, type Exec } from '../far-side.js';
import { SessionLog, type TransportLoss } from '../session-log.js';
import { SessionMetadata, type ResumeMetadata } from '../session-metadata.js';

/** A far side whose steps are one command each: `clean-up`, `stop`, `reset` and `check-plane`. A step fails unless its command exits 0. */
export class OneCommandFarSide extends FarSide {
  override cleanUp(exec: Exec): Promise<void> {
    return succeed(exec, 'clean-up');
  }

  override stopFarSide(exec: Exec, why: 'stop' | 'reset'): Promise<void> {
    return succeed(exec, why);
  }

  override checkPlane(exec: Exec): Promise<void> {
    return succeed(exec, 'check-plane');
  }
}

const succeed = async (exec: Exec, command: string): Promise<void> => {
  const { code } = await exec(command);
  if (code !== 0) throw new Error(`${command} ended with ${code}`);
};

/** Metadata in memory. */
export class MemoryMetadata extends SessionMetadata {
  readonly kept = new Map<string, ResumeMetadata>();
  /** How often something was written. */
  writes = 0;
  isBroken = false;
  /** Called at each call, before anything comes of it. */
  called: (what: string) => void = () => undefined;

  override async remember(id: string, metadata: ResumeMetadata): Promise<void> {
    this.#call('remember');
    this.writes += 1;
    this.kept.set(id, metadata);
  }

  override async recall(id: string): Promise<ResumeMetadata | null> {
    this.#call('recall');
    return this.kept.get(id) ?? null;
  }

  override async forget(id: string): Promise<void> {
    this.#call('forget');
    this.kept.delete(id);
  }

  #call(what: string): void {
    this.called(what);
    if (this.isBroken) throw new Error('The disk is full');
  }
}

/** Keeps what was logged. */
export class RecordedLog extends SessionLog {
  readonly losses: TransportLoss[] = [];
  readonly unwatched: string[] = [];
  /** Called at each line. */
  called: (what: string) => void = () => undefined;

  override warn(_sentence: string, loss: TransportLoss): void {
    this.losses.push(loss);
    this.called('warn');
  }

  override debug(_sentence: string, { session }: { readonly session: string }): void {
    this.unwatched.push(session);
    this.called('debug');
  }
}

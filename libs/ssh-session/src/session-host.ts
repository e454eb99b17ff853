import { allowsCommands, type Reading } from '@rollcall/transport-watchdog';
import type { FarSide } from './far-side.js';
import { Handles } from './handles.js';
import type { Dial, NearEnd, SshTarget } from './ports.js';
import type { SessionClock } from './session-clock.js';
import { SshSessionError, transportLost, type SshSessionErrorCode } from './session-error.js';
import type { SessionLog } from './session-log.js';
import type { ResumeMetadata, SessionMetadata } from './session-metadata.js';
import { Session, type OpenSession, type Pace, type Reach, type SessionStatus, type Surroundings } from './session.js';

/** What a session host reaches the world by. */
export type SessionHostPorts = {
  readonly dial: Dial;
  readonly farSide: FarSide;
  readonly metadata: SessionMetadata;
  readonly log: SessionLog;
};

/** A session to be opened. */
export type LaunchSpec = {
  /** Chosen by the caller: 1 to 64 letters, digits, dots, dashes and underscores, a letter or digit first. */
  readonly id: string;
  /** The UNIX socket of the far agent. */
  readonly farSocketPath: string;
} & (
  | {
      /** Whom to dial. */
      readonly target: SshTarget;
      /**
       * Where the forward begins on this computer. It is never chosen for the caller: a loopback port carries every user of this computer to
       * the far agent, which then has to ask for a secret itself (O15).
       */
      readonly near: NearEnd;
    }
  /** Without a target the far agent is on this computer: there is no connection, and its socket is the address. */
  | { readonly target?: undefined; readonly near?: undefined }
);

/** How a remote step of a stop ended. `skipped`: nothing was sent, because the transport does not answer or there is none. */
export type StepOutcome = 'done' | 'failed' | 'skipped';

/** What a stop did beyond this computer. */
export type StopReport = {
  readonly cleanUp: StepOutcome;
  readonly farStop: StepOutcome;
  /** Whether what a resume needs was kept: so it is unless the far side was stopped, because there may be something to go back to. */
  readonly canBeResumed: boolean;
};

const SESSION_ID = /^[A-Za-z0-9][\w.-]{0,63}$/;

/**
 * Owns the SSH sessions of one process: each has one connection, one forward and at most one watchdog, and `stop`, `reset` and `close` are the
 * only ways in which it is forgotten. A lost session stays until then, and whoever asks for it again is told so.
 */
export class SessionHost {
  readonly #sessions = new Map<string, Session>();
  readonly #disposing = new Set<Session>();
  /** When what a session needs to be resumed is kept; it rejects for all who wait. */
  readonly #keeping = new WeakMap<Session, Promise<void>>();
  readonly #opening = new Set<Promise<unknown>>();
  readonly #closed = new AbortController();
  /** Metadata is read and written one call after the other, so the last word about an id is the last one said. */
  #filing: Promise<unknown> = Promise.resolve();
  readonly #surroundings: Surroundings;

  constructor(
    private readonly ports: SessionHostPorts,
    pace: Pace,
    clock: SessionClock,
  ) {
    this.#surroundings = { pace, clock, log: ports.log };
  }

  /**
   * Opens a session, or answers with the one that already has this id.
   *
   * @throws SshSessionError `transport-lost` when that one is lost, `session-ended`, `bad-session-id`, `metadata-unwritable`, `host-closed`;
   *   or what `dial` threw
   */
  launch({ id, farSocketPath, ...way }: LaunchSpec): Promise<OpenSession> {
    return this.#whileOpen(id, () => {
      if (!way.target) return this.#have(id, () => Promise.resolve({ farSocketPath }));
      const metadata = { target: way.target, near: way.near, farSocketPath };
      return this.#have(
        id,
        () => this.#connect(id, metadata),
        () => this.ports.metadata.remember(id, metadata),
      );
    });
  }

  /**
   * Opens a session again by what was kept of it, or answers with the one that already has this id.
   *
   * @throws SshSessionError `transport-lost`, `session-ended`, `unknown-session`, `bad-session-id`, `metadata-unreadable`,
   *   `metadata-unwritable`, `host-closed`; or what `dial` threw
   */
  resume(id: string): Promise<OpenSession> {
    const { metadata } = this.ports;
    let recalled: ResumeMetadata;
    return this.#whileOpen(id, () =>
      this.#have(
        id,
        async () => {
          recalled = await this.#recall(id);
          return this.#connect(id, recalled);
        },
        async () => {
          // A stop of the session before may have forgotten it while this one was being dialled.
          if ((await metadata.recall(id)) === null) await metadata.remember(id, recalled);
        },
      ),
    );
  }

  /** What is known of a session, without a word to anybody; null when there is none. */
  status(id: string): SessionStatus | null {
    return this.#sessions.get(id)?.status() ?? null;
  }

  /**
   * Ends a session. Its remote steps are carried out where the transport answers, and a failure of theirs is in the report and no error.
   *
   * @returns null when no session has this id, or somebody else is disposing of it
   */
  async stop(id: string): Promise<StopReport | null> {
    const session = this.#sessions.get(id);
    if (!session) return null;
    const reading = session.read();
    this.#remove(session);
    const { farSide, metadata } = this.ports;
    const cleanUp = await takeStep(session, reading, () => farSide.cleanUp(session.exec));
    const farStop = await takeStep(session, reading, () => farSide.stopFarSide(session.exec, 'stop'));
    await this.#dispose(session);
    if (farStop !== 'done') return { cleanUp, farStop, canBeResumed: session.link !== undefined };
    const isForgotten = await this.#file(async () => {
      // A session that was opened meanwhile has remembered what it needs.
      if (!this.#sessions.has(id)) await metadata.forget(id);
    }).then(
      () => true,
      () => false,
    );
    return { cleanUp, farStop, canBeResumed: !isForgotten };
  }

  /**
   * Stops the far side of a session so that it starts afresh, and lets the session go; what a resume needs stays. Where no session has this id,
   * but something was kept of one, it dials for that alone.
   *
   * @throws SshSessionError `transport-lost` when the transport does not answer, or ended meanwhile; `plane-unreachable` when the far side does
   *   not reach the plane, and then nothing was changed; `far-stop-failed`; `unknown-session`; `metadata-unreadable`; `host-closed`
   */
  async reset(id: string): Promise<void> {
    const session = this.#sessions.get(id);
    if (session) return this.#resetTracked(session);
    if ([...this.#disposing].some((each) => each.id === id)) return undefined;
    return this.#whileOpen(id, () => this.#resetUntracked(id));
  }

  /** Calls off what is being opened, lets all sessions go without a word to their far sides, and keeps what they need to be resumed. */
  async close(): Promise<void> {
    const sessions = [...this.#sessions.values()];
    for (const session of sessions) this.#remove(session);
    this.#closed.abort(new SshSessionError('host-closed', 'The session host was closed'));
    await Promise.all(sessions.map((session) => this.#dispose(session)));
    await Promise.allSettled(this.#opening);
  }

  /** Work that `close` calls off and waits for. */
  async #whileOpen<T>(id: string, work: () => Promise<T>): Promise<T> {
    if (!SESSION_ID.test(id)) throw new SshSessionError('bad-session-id', 'No SSH session can have this id');
    this.#closed.signal.throwIfAborted();
    const working = work();
    this.#opening.add(working);
    try {
      return await working;
    } catch (error) {
      this.#closed.signal.throwIfAborted();
      throw error;
    } finally {
      this.#opening.delete(working);
    }
  }

  /**
   * The session of this id, opened where there is none; refused when it is lost by the time that it is there (T-2.14), or let go. Whoever
   * comes second waits as well until what a resume needs is kept.
   */
  async #have(id: string, connect: () => Promise<Reach>, remember?: () => Promise<void>): Promise<OpenSession> {
    const session = this.#sessions.get(id) ?? (await this.#open(id, connect, remember));
    await this.#keeping.get(session);
    if (session.isLost) throw session.lossError();
    if (!this.#has(session))
      throw new SshSessionError('session-ended', 'The SSH session was stopped or reset while it was being opened');
    return session.view;
  }

  async #open(id: string, connect: () => Promise<Reach>, remember?: () => Promise<void>): Promise<Session> {
    let session: Session;
    try {
      session = new Session(id, await connect(), this.#surroundings);
    } catch (error) {
      // Somebody was faster, and may hold the near end that we wanted.
      const existing = this.#sessions.get(id);
      if (existing) return existing;
      throw error;
    }
    try {
      const adopted = this.#adopt(session);
      if (adopted !== session) return adopted;
    } finally {
      if (!this.#has(session)) await session.dispose();
    }
    if (remember) this.#keeping.set(session, this.#keep(session, remember));
    return session;
  }

  /**
   * Records the session and starts its watchdog in one synchronous run: no disposal can come between (T-1.1). A record that is there already
   * stays as it is, and the caller goes on with that one (T-2.1).
   */
  #adopt(session: Session): Session {
    this.#closed.signal.throwIfAborted();
    const existing = this.#sessions.get(session.id);
    if (existing) return existing;
    if (session.link?.ended) throw session.lossError();
    this.#sessions.set(session.id, session);
    session.watch();
    return session;
  }

  /** Only who holds the record writes what is kept of it. A session that could not be resumed is given to nobody. */
  async #keep(session: Session, remember: () => Promise<void>): Promise<void> {
    try {
      await this.#file(remember);
    } catch (cause) {
      if (this.#remove(session)) await this.#dispose(session);
      throw new SshSessionError('metadata-unwritable', 'What a resume of the SSH session would need cannot be kept', {
        cause,
      });
    }
  }

  async #connect(id: string, { target, near, farSocketPath }: ResumeMetadata): Promise<Reach> {
    const link = await this.ports.dial(target, { signal: this.#closed.signal });
    try {
      return { link, forward: await link.forward(near, farSocketPath), farSocketPath };
    } catch (cause) {
      const error = link.ended ? transportLost(id, 'link-ended', { cause }) : cause;
      await new Handles(this.#surroundings.clock, link).closeOnce();
      throw error;
    }
  }

  async #recall(id: string): Promise<ResumeMetadata> {
    const metadata = await this.#file(() => this.ports.metadata.recall(id)).catch((cause: unknown) => {
      throw new SshSessionError('metadata-unreadable', 'What was kept of the SSH session cannot be read', { cause });
    });
    if (!metadata) throw new SshSessionError('unknown-session', 'There is no SSH session of this id to go back to');
    return metadata;
  }

  #file<T>(work: () => Promise<T>): Promise<T> {
    const filed = this.#filing.then(work);
    this.#filing = filed.catch(() => undefined);
    return filed;
  }

  #has(session: Session): boolean {
    return this.#sessions.get(session.id) === session;
  }

  /**
   * Takes a session out of the record and its watchdog off, synchronously: whoever does so is the one who disposes of it.
   *
   * @returns false when somebody else was first
   */
  #remove(session: Session): boolean {
    if (!this.#has(session)) return false;
    this.#sessions.delete(session.id);
    this.#disposing.add(session);
    session.detach();
    return true;
  }

  async #dispose(session: Session): Promise<void> {
    await session.dispose();
    this.#disposing.delete(session);
  }

  async #resetTracked(session: Session): Promise<void> {
    let error: SshSessionError | undefined;
    if (allowsCommands(session.read())) {
      session.markWhenLinkEnds();
      // Still recorded and watched, so that a far side without its plane leaves everything as it was.
      error = await this.#failureOfPlaneCheck(session);
      if (error?.code === 'plane-unreachable' && this.#has(session)) {
        session.unmark();
        throw error;
      }
    } else {
      error = session.lossError();
    }
    // Whoever removed it meanwhile disposes of it, and has ended our check with it.
    if (!this.#remove(session)) return;
    // Another reset of it may have been refused meanwhile.
    session.markWhenLinkEnds();
    error ??= await this.#failureOfFarStop(session);
    await this.#dispose(session);
    if (error) throw error;
  }

  async #resetUntracked(id: string): Promise<void> {
    const { target, farSocketPath } = await this.#recall(id);
    const link = await this.ports.dial(target, { signal: this.#closed.signal });
    // It is in no record, and nobody watches it (T-2.2).
    const session = new Session(id, { link, farSocketPath }, this.#surroundings);
    const letGo = () => void session.dispose();
    this.#closed.signal.addEventListener('abort', letGo);
    if (this.#closed.signal.aborted) letGo();
    session.markWhenLinkEnds();
    const error = (await this.#failureOfPlaneCheck(session)) ?? (await this.#failureOfFarStop(session));
    this.#closed.signal.removeEventListener('abort', letGo);
    await session.dispose();
    if (error) throw error;
  }

  #failureOfPlaneCheck(session: Session): Promise<SshSessionError | undefined> {
    return failureOf(session, () => this.ports.farSide.checkPlane(session.exec), [
      'plane-unreachable',
      'The far side of the SSH session does not reach the plane; nothing was changed',
    ]);
  }

  #failureOfFarStop(session: Session): Promise<SshSessionError | undefined> {
    return failureOf(session, () => this.ports.farSide.stopFarSide(session.exec, 'reset'), [
      'far-stop-failed',
      'The far side of the SSH session could not be stopped',
    ]);
  }
}

/** One reading decides for all steps (T-2.8). */
const takeStep = async (session: Session, reading: Reading, step: () => Promise<void>): Promise<StepOutcome> => {
  if (!session.link || !allowsCommands(reading)) return 'skipped';
  try {
    await step();
    return 'done';
  } catch {
    return 'failed';
  }
};

/**
 * What a step of a reset failed by: a transport that was marked lost says so, whatever the command's own failure looks like (T-2.15). Without
 * a connection there is nothing to be done at a far side.
 */
const failureOf = async (
  session: Session,
  step: () => Promise<void>,
  refused: readonly [SshSessionErrorCode, string],
): Promise<SshSessionError | undefined> => {
  if (!session.link) return undefined;
  try {
    await step();
    return undefined;
  } catch (cause) {
    return session.isLost ? session.lossError({ cause }) : new SshSessionError(...refused, { cause });
  }
};

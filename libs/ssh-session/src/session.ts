import { look, makesSense, read, type Reading, type Timing } from '@rollcall/transport-watchdog';
import type { Exec } from './far-side.js';
import { Handles, type CloseReport } from './handles.js';
import type { Link, NearAddress, NearForward } from './ports.js';
import type { SessionClock } from './session-clock.js';
import { transportLost, type SshSessionError } from './session-error.js';
import type { LossCause, SessionLog } from './session-log.js';
import { Watchdog, type Verdict } from './watchdog.js';

/** The times of a session. Fixed in production; a test lives in shorter ones. */
export type Pace = {
  readonly timing: Timing;
  /** The longest that one remote command of a disposal may take, in milliseconds. */
  readonly commandLimit: number;
};

/** What a session is to its caller while it is there. */
export type OpenSession = {
  readonly id: string;
  /** Where to connect in order to reach the far agent. */
  readonly address: NearAddress;
  /** Aborted in the turn in which the transport is declared lost; the reason is an `SshSessionError` with the code `transport-lost`. */
  readonly lost: AbortSignal;
};

/** What is known of a session without asking anybody. */
export type SessionStatus = {
  /** `unresponsive`: its probe has waited for more than one interval. `disconnected`: its transport was declared lost; that is final. */
  readonly state: 'connected' | 'unresponsive' | 'disconnected';
  readonly address: NearAddress;
  /** Milliseconds since something was heard, while a watchdog runs. */
  readonly silence: number | null;
  /** Milliseconds that the newest answer took. */
  readonly roundTrip: number | null;
  /** Why it is disconnected. */
  readonly error: SshSessionError | null;
};

/** What a session holds, and where its far agent is. Without a link the far agent is on this computer. */
export type Reach = { readonly link?: Link; readonly forward?: NearForward; readonly farSocketPath: string };

/** What all sessions of a host live in. */
export type Surroundings = { readonly pace: Pace; readonly clock: SessionClock; readonly log: SessionLog };

/** One SSH connection with its forward, and the one who watches it. */
export class Session {
  #watchdog: Watchdog | undefined;
  #lostBecause: LossCause | undefined;
  #teardown: Promise<void> | undefined;
  #unmark: (() => void) | undefined;
  readonly #handles: Handles;
  readonly #lost = new AbortController();
  readonly link: Link | undefined;
  readonly view: OpenSession;

  constructor(
    readonly id: string,
    { link, forward, farSocketPath }: Reach,
    private readonly surroundings: Surroundings,
  ) {
    this.link = link;
    this.#handles = new Handles(surroundings.clock, link, forward);
    this.view = { id, address: forward?.address ?? { kind: 'unix', path: farSocketPath }, lost: this.#lost.signal };
  }

  /** Set when the transport is declared lost, or closed under a command that ran out of time; never cleared. */
  get isLost(): boolean {
    return this.#lostBecause !== undefined;
  }

  /** Starts the watchdog, in one synchronous run with the record of this session (T-1.1). Without a link there is nothing to watch (T-2.3). */
  watch(): void {
    const { pace, clock, log } = this.surroundings;
    if (!this.link) return;
    if (makesSense(pace.timing)) {
      this.#watchdog = new Watchdog(this.link, pace.timing, clock, (verdict) => this.#tearDown(verdict));
    } else {
      log.debug('This session is not watched: the deadline has to be longer than two intervals', {
        session: this.id,
      });
    }
  }

  /** What a disposal goes by; it asks once. */
  read(): Reading {
    return read(this.isLost, this.#watchdog?.watch ?? null, this.surroundings.clock.now());
  }

  /** Answered from memory in every state, so that it costs a silent transport nothing and waits for nothing (T-1.7). */
  status(): SessionStatus {
    const watch = this.#watchdog?.watch ?? null;
    const { unresponsive } = this.read();
    return {
      state: this.isLost ? 'disconnected' : unresponsive ? 'unresponsive' : 'connected',
      address: this.view.address,
      silence: watch && !this.isLost ? look(watch, this.surroundings.clock.now()).silence : null,
      roundTrip: watch?.roundTrip ?? null,
      error: this.isLost ? this.lossError() : null,
    };
  }

  /** The error of whoever wanted something of a session whose transport is lost. */
  lossError(options?: ErrorOptions): SshSessionError {
    return transportLost(this.id, this.#lostBecause ?? (this.link?.ended ? 'link-ended' : 'no-answer'), options);
  }

  /** Takes the watchdog off, synchronously: whatever ends from now on is no loss. Without effect when none runs. */
  detach(): void {
    this.#watchdog?.stop();
  }

  /**
   * From now on marks the transport lost when it ends, also with the watchdog off, so that a reset can tell that from a far side that refused.
   * What ends by `dispose` is no loss.
   */
  markWhenLinkEnds(): void {
    this.#unmark ??= this.link?.onEnd(() => {
      this.#lostBecause ??= 'link-ended';
      this.#announceLoss();
    });
  }

  /** Takes that back, for a session that goes on. */
  unmark(): void {
    this.#unmark?.();
    this.#unmark = undefined;
  }

  /**
   * Runs a remote command of a disposal. One that runs out of time is released by closing all that the session holds, which marks the
   * transport lost; its end is awaited all the same (T-2.8).
   */
  readonly exec: Exec = async (command) => {
    if (!this.link) throw new Error('This session has no connection to run a command on');
    let isLate = false;
    const cancel = this.surroundings.clock.after(this.surroundings.pace.commandLimit, () => {
      isLate = true;
      this.detach();
      this.#lostBecause ??= 'command-timeout';
      void this.#handles.closeOnce();
      this.#announceLoss();
    });
    try {
      const result = await this.#handles.released(this.link.exec(command));
      if (!isLate) return result;
    } catch (cause) {
      throw new Error(isLate ? this.#lateness : 'The remote command did not run to its end', { cause });
    } finally {
      cancel();
    }
    throw new Error(this.#lateness);
  };

  /** Ends all activity of this session on this computer and closes what it holds. It never rejects, and can be called again. */
  async dispose(): Promise<void> {
    this.detach();
    this.unmark();
    await this.#handles.closeOnce();
    await this.#teardown;
    // A probe waits inside the link until that ends.
    await this.#handles.released(this.#watchdog?.probe ?? Promise.resolve()).catch(() => undefined);
  }

  get #lateness(): string {
    return `The remote command had not ended after ${this.surroundings.pace.commandLimit} ms`;
  }

  /** Closes without a word to the far side, which goes on and can be attached to again (T-1.11). The record stays (T-2.6). */
  #tearDown({ cause, silence }: Verdict): void {
    this.#lostBecause ??= cause;
    this.#teardown = this.#handles.closeOnce().then((report) => this.#tell(cause, silence, report));
    this.#announceLoss();
  }

  /** The last step of a loss, because whoever hears of it may do anything. */
  #announceLoss(): void {
    this.#lost.abort(this.lossError());
  }

  #tell(cause: LossCause, silence: number, { forward, link }: CloseReport): void {
    this.surroundings.log.warn('The connection of an SSH session is lost', {
      session: this.id,
      remoteHost: this.link?.remoteHost ?? '',
      cause,
      silence,
      failedCloses: { ...(forward && { forward: forward.message }), ...(link && { link: link.message }) },
    });
  }
}

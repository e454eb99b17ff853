import type { Link, NearForward } from './ports.js';
import type { SessionClock } from './session-clock.js';

/** How long a close is waited for, in milliseconds. What has not ended by then counts as a close that failed. */
export const CLOSE_LIMIT = 1_000;

/** Which closes failed; empty when all went well. */
export type CloseReport = { readonly forward?: Error; readonly link?: Error };

/**
 * What a session holds on this computer, behind one guard, so that whoever closes (a teardown, a stop, a command that ran out of time, the
 * loser of a race) closes everything, in one order and once (T-2.5, T-2.7).
 */
export class Handles {
  #report: Promise<CloseReport> | undefined;
  readonly #stuck = Promise.withResolvers<never>();

  constructor(
    private readonly clock: SessionClock,
    readonly link?: Link,
    readonly forward?: NearForward,
  ) {
    this.#stuck.promise.catch(() => undefined);
  }

  /**
   * Closes the forward first and the link second, whatever comes of the first (T-1.5). The forward refuses and cuts within this call. It never
   * rejects, and every call has the same result.
   */
  closeOnce(): Promise<CloseReport> {
    if (!this.#report) {
      // The guard stands before anything is called that might call back.
      const { promise, resolve } = Promise.withResolvers<CloseReport>();
      this.#report = promise;
      void this.#close().then(resolve);
    }
    return this.#report;
  }

  /** Waits for work that only the end of the link releases; where the link could not be closed, no longer than for that. */
  released<T>(work: Promise<T>): Promise<T> {
    return Promise.race([work, this.#stuck.promise]);
  }

  async #close(): Promise<CloseReport> {
    const { forward: near, link: far } = this;
    const forward = near && (await this.#failureOf(() => near.close()));
    const link = far && (await this.#failureOf(() => far.close()));
    if (link) this.#stuck.reject(link);
    return { ...(forward && { forward }), ...(link && { link }) };
  }

  async #failureOf(close: () => Promise<void>): Promise<Error | undefined> {
    const late = Promise.withResolvers<Error>();
    const cancel = this.clock.after(CLOSE_LIMIT, () =>
      late.resolve(new Error(`It has not ended within ${CLOSE_LIMIT} ms`)),
    );
    try {
      return await Promise.race([close().then(() => undefined), late.promise]);
    } catch (error) {
      return error instanceof Error ? error : new Error(String(error));
    } finally {
      cancel();
    }
  }
}

import { DeadlineExceeded, withDeadline, type Clock } from '@rollcall/lifetimes';
import { TransportError } from '@rollcall/pinned-https';
import type { Asked } from '../check/asked.js';
import type { Log } from '../log.js';
import { uploadVerdictOn, type UploadVerdict } from './upload-verdict.js';

/** For one upload, from the first packet to the last byte of the answer. Longer than a plane waits for a body. */
export const UPLOAD_DEADLINE = 30_000;

/** What uploads are made of. */
export type LogTailUploadsOptions = {
  readonly clock: Clock;
  readonly log: Log;
  /** What is sent; asked for at the moment of sending. */
  readonly tail: () => Buffer;
  /** Runs work beside the checks until its end, which is awaited by whoever owns the checks too. */
  readonly beside: (work: (signal: AbortSignal) => Promise<void>) => void;
};

/**
 * Uploads the tail of the log when an answer asks for it: by a request of its own, one at a time, and once per stamp. One that fails is
 * tried again when a later answer still asks for it, so there is no timer and no queue; and no check waits for any of it (O13, O26).
 */
export class LogTailUploads {
  readonly #o: LogTailUploadsOptions;
  #underWay = false;
  /** The request that was settled last. */
  #settled: string | null = null;
  #lastFailure: string | null = null;

  constructor(options: LogTailUploadsOptions) {
    this.#o = options;
  }

  /** Takes note of what an answer asked for. Returns at once. */
  heard(asked: Asked): void {
    const { logTail: stamp, machine } = asked;
    if (stamp === null || this.#underWay || this.#settled === `${machine} ${stamp}`) return;
    this.#underWay = true;
    this.#o.beside(async (signal) => {
      try {
        const verdict = await this.#send(asked, stamp, signal);
        if (!signal.aborted || verdict.kind !== 'failed') this.#note(verdict, `${machine} ${stamp}`);
      } finally {
        this.#underWay = false;
      }
    });
  }

  /** Never rejects: what went wrong is a verdict. */
  async #send({ plane, key }: Asked, stamp: string, outer: AbortSignal): Promise<UploadVerdict> {
    const { clock, tail } = this.#o;
    const upload = (signal: AbortSignal) => plane.uploadLogTail({ stamp, bytes: tail() }, key.secret, signal);
    try {
      return uploadVerdictOn(await withDeadline(clock, UPLOAD_DEADLINE, upload, outer), stamp);
    } catch (error) {
      if (error instanceof TransportError) return { kind: 'failed', code: error.code };
      if (!(error instanceof DeadlineExceeded)) this.#o.log.error('An upload failed in an unexpected way', error);
      return { kind: 'failed', code: 'no-answer' };
    }
  }

  #note(verdict: UploadVerdict, request: string): void {
    const { log } = this.#o;
    if (verdict.kind === 'failed') {
      // Once per reason: it is tried again with every check.
      if (verdict.code !== this.#lastFailure)
        log.warn(`The tail of this log was not taken (${verdict.code}); trying on`);
      this.#lastFailure = verdict.code;
      return;
    }
    this.#settled = request;
    this.#lastFailure = null;
    if (verdict.kind === 'received') log.info('Uploaded the tail of this log, as the plane asked');
  }
}

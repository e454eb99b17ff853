import type { Clock } from '@rollcall/lifetimes';
import type { Asked } from '../check/asked.js';
import type { Key } from '../check/enrolment.js';
import type { StateDirectory } from '../installation/state-directory.js';
import type { Log } from '../log.js';
import type { Plane } from '../plane/plane.js';
import { rotate, type Reached, type RotationEnd } from './rotate.js';

/** What rotations are made of. */
export type RotationsOptions = {
  readonly directory: StateDirectory;
  readonly clock: Clock;
  readonly log: Log;
  /** Resolves when what the checks have told so far is on the disk. */
  readonly settled: () => Promise<void>;
  /** Checks in with this key from now on, and at once. */
  readonly prefer: (key: Key) => void;
  /** Somebody else has put another credential in place. */
  readonly reload: () => Promise<void>;
  /** Runs work beside the checks until its end, which is awaited by whoever owns the checks too. */
  readonly beside: (work: (signal: AbortSignal) => Promise<void>) => void;
  /** (Default: nobody listens) */
  readonly reached?: Reached | undefined;
};

/**
 * The rotations of a running agent: when an answer asks for one, when one was cut off, and by hand. One at a time, beside the checks, which go
 * on with the key in use (O13). One that fails is begun again when a later answer still asks for it, so there is no timer of its own.
 */
export class Rotations {
  readonly #o: RotationsOptions;
  #underWay: Promise<RotationEnd> | null = null;
  #problem: string | null = null;
  /** A kept key that was registered and refused all the same is not registered again and again. */
  #resumed: string | null = null;

  constructor(options: RotationsOptions) {
    this.#o = options;
  }

  /** Why the next credential cannot be kept; null while nothing is wrong with it. */
  get problem(): string | null {
    return this.#problem;
  }

  /** Takes note of what an answer asked for. Returns at once. */
  heard({ rotate: stamp, isUnfinished, plane, key }: Asked): void {
    if (this.#underWay || (stamp === null && !isUnfinished)) return;
    if (stamp === null && this.#resumed === key.secret) return;
    this.#resumed = key.secret;
    void this.begin(plane, key);
  }

  /** Begins a rotation, or joins the one that is under way. Never rejects. */
  begin(plane: Plane, inUse: Key): Promise<RotationEnd> {
    const { promise, resolve } = Promise.withResolvers<RotationEnd>();
    this.#underWay ??= promise;
    if (this.#underWay !== promise) return this.#underWay;
    this.#o.beside(async (signal) => {
      const end = await this.#turn(plane, inUse, signal);
      this.#underWay = null;
      resolve(end);
    });
    return promise;
  }

  async #turn(plane: Plane, inUse: Key, signal: AbortSignal): Promise<RotationEnd> {
    const { directory, clock, log, settled, prefer, reload, reached = () => undefined } = this.#o;
    try {
      // A key that has just succeeded may be on its way to its place.
      await settled();
      const end = await rotate({ directory, plane, inUse, clock, signal, reached });
      this.#note(end);
      if (end.kind === 'registered') prefer(end.key);
      if (end.kind === 'overtaken') await reload();
      return end;
    } catch (error) {
      log.error('A rotation failed in an unexpected way', error);
      return { kind: 'lost', why: (error as Error).message };
    }
  }

  #note(end: RotationEnd): void {
    const { log } = this.#o;
    const before = this.#problem;
    this.#problem = end.kind === 'not-stored' ? `The next credential cannot be kept: ${end.why}` : null;
    if (end.kind === 'registered') log.info(`Registered the next credential, generation ${end.key.generation}`);
    else if (end.kind === 'overtaken') log.info('Another process has rotated the credential');
    else if (this.#problem === null)
      log.warn(`The credential was not rotated: ${end.kind === 'refused' ? end.code : 'why' in end ? end.why : ''}`);
    else if (before === null) log.error('The credential was not rotated; the one in use stays', this.#problem);
  }
}

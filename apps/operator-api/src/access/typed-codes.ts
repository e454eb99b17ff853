import { Injectable } from '@nestjs/common';
import {
  afterWrong,
  CODE_FLOOR_MS,
  isOpen,
  lockedFor,
  readUserCode,
  withoutWrong,
  type Answerable,
  type WrongCodes,
} from '@rollcall/admission';
import { Attempts } from '@rollcall/attempts';
import { type Decider, type Instant, Refusal, type Typed } from '@rollcall/decider';
import { EventStore } from '@rollcall/event-store';
import { Clock, notBefore } from '@rollcall/lifetimes';
import { hashOf } from '@rollcall/wire';

/** A kind of short code: the stream that each is, and the key that it has by its hash. */
export type CodeKind<State extends Answerable<unknown>> = {
  readonly decider: Decider<State | null, Typed, Typed>;
  readonly keyOf: (hash: string) => string;
};

/** A code that somebody typed and that exists. */
export type TypedCode<State> = { readonly code: string; readonly stream: string; readonly state: State };

/**
 * Finds short codes by what people type. Wrong ones are counted per session, of all kinds and by all instances together: from so many on none
 * is looked at for a while, right or wrong (O12, C08).
 */
@Injectable()
export class TypedCodes {
  constructor(
    private readonly store: EventStore,
    private readonly attempts: Attempts,
    private readonly clock: Clock,
  ) {}

  /**
   * Does something with the code that was typed, and tells what came of it no sooner than of any other.
   *
   * @throws Refusal `too-many-wrong-codes`, or `code-refused`, which counts as a wrong one
   */
  withTyped<State extends Answerable<unknown>, Result>(
    kind: CodeKind<State>,
    typed: { readonly typed: string; readonly sessionId: string },
    use: (found: TypedCode<State>) => Promise<Result> | Result,
  ): Promise<Result> {
    return notBefore(this.clock, CODE_FLOOR_MS, () => this.counted(kind, typed, use));
  }

  private async counted<State extends Answerable<unknown>, Result>(
    kind: CodeKind<State>,
    { typed, sessionId }: { readonly typed: string; readonly sessionId: string },
    use: (found: TypedCode<State>) => Promise<Result> | Result,
  ): Promise<Result> {
    const key = `wrong-codes:${sessionId}`;
    // Counted before it is looked at, so that of many at once no more are looked at than of many in turn.
    const { locked, at } = await this.attempts.count(key, (wrong: WrongCodes | null, now) => {
      const held = lockedFor(wrong ?? [], now);
      return { memory: held > 0 ? (wrong ?? []) : afterWrong(wrong ?? [], now), answer: { locked: held, at: now } };
    });
    if (locked > 0) throw new Refusal('too-many-wrong-codes', { retryAfter: Math.ceil(locked / 1_000) });
    try {
      const result = await use(await this.find(kind, typed));
      await this.wasRight(key, at);
      return result;
    } catch (error) {
      if (!(error instanceof Refusal) || error.code !== 'code-refused') await this.wasRight(key, at);
      throw error;
    }
  }

  /** Refuses one that nobody can answer any more, before anybody confirms anything. `found`: as `withTyped` gave it. */
  async open({ state }: TypedCode<Answerable<unknown>>): Promise<void> {
    if (!isOpen(state, (await this.store.newest()).recordedAt)) throw new Refusal('code-refused');
  }

  private wasRight(key: string, at: Instant): Promise<void> {
    return this.attempts.count(key, (wrong: WrongCodes | null) => ({
      memory: withoutWrong(wrong ?? [], at),
      answer: undefined,
    }));
  }

  private async find<State extends Answerable<unknown>>(
    { decider, keyOf }: CodeKind<State>,
    typed: string,
  ): Promise<TypedCode<State>> {
    const read = readUserCode(typed);
    const view = read === null ? null : await this.store.view(decider, { claim: keyOf(hashOf(read)) });
    if (read === null || !view?.state) throw new Refusal('code-refused');
    return { code: read, stream: view.stream, state: view.state };
  }
}

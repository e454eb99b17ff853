import { Injectable } from '@nestjs/common';
import {
  afterWrong,
  code,
  isOpen,
  lockedFor,
  readUserCode,
  userCodeKey,
  type CodeState,
  type WrongCodes,
} from '@rollcall/admission';
import { Refusal } from '@rollcall/decider';
import { EventStore } from '@rollcall/event-store';
import { Clock } from '@rollcall/lifetimes';
import { hashOf } from '@rollcall/wire';
import { LRUCache } from 'lru-cache';

/** A code that somebody typed and that exists. */
export type TypedCode = { readonly code: string; readonly stream: string; readonly state: NonNullable<CodeState> };

/**
 * Finds short codes by what people type. Wrong ones are counted per session, by each instance: from so many on none is looked at for a
 * while, right or wrong (O12, C08).
 */
@Injectable()
export class WaitingCodes {
  private readonly wrong = new LRUCache<string, WrongCodes>({ max: 10_000 });

  constructor(
    private readonly store: EventStore,
    private readonly clock: Clock,
  ) {}

  /** Does something with the code that was typed. @throws Refusal `too-many-wrong-codes`, or `code-refused`, which counts as a wrong one. */
  async withTyped<Result>(
    typed: string,
    sessionId: string,
    use: (found: TypedCode) => Promise<Result> | Result,
  ): Promise<Result> {
    const now = this.clock.monotonic();
    const locked = lockedFor(this.wrong.get(sessionId) ?? [], now);
    if (locked > 0) throw new Refusal('too-many-wrong-codes', { retryAfter: Math.ceil(locked / 1_000) });
    try {
      return await use(await this.find(typed));
    } catch (error) {
      if (error instanceof Refusal && error.code === 'code-refused')
        this.wrong.set(sessionId, afterWrong(this.wrong.get(sessionId) ?? [], now));
      throw error;
    }
  }

  /** Refuses one that nobody can answer any more, before anybody confirms anything. `found`: as `withTyped` gave it. */
  async open({ state }: TypedCode): Promise<void> {
    if (!isOpen(state, (await this.store.newest()).recordedAt)) throw new Refusal('code-refused');
  }

  private async find(typed: string): Promise<TypedCode> {
    const read = readUserCode(typed);
    const view = read === null ? null : await this.store.view(code, { claim: userCodeKey(hashOf(read)) });
    if (read === null || !view?.state) throw new Refusal('code-refused');
    return { code: read, stream: view.stream, state: view.state };
  }
}

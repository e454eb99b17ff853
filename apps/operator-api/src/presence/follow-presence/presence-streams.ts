import { Injectable, type OnApplicationBootstrap, type OnModuleDestroy } from '@nestjs/common';
import { Refusal } from '@rollcall/decider';
import { Clock, Lifetime } from '@rollcall/lifetimes';
import { Authenticator, endEvent, type ServerSentEvent } from '@rollcall/nest-platform';
import { ChangeQueries, changePlaceText, ChangeWatch, readChangePlace } from '@rollcall/read-models';
import type { AsOf } from '@rollcall/wire';

/** Somebody who follows their machines. */
export type Follower = {
  /** The id of a person. */
  readonly id: string;
  /** The session, which is looked at again and again. */
  readonly bearer: string;
  /** Where they were; undefined for somebody who comes for the first time. */
  readonly lastEventId: string | undefined;
};

// What goes between us and a client ends connections on which nothing moves for half a minute or more.
const KEEP_ALIVE_MS = 15_000;
/** Streams of one instance; each costs some 60 KB and, while things happen, a question to the database each time. */
const MOST_STREAMS = 1_000;
/** Streams of one person on one instance. */
const MOST_OF_ONE = 20;

/** Tells people what happens to their machines, for as long as they listen and are signed in. */
@Injectable()
export class PresenceStreams implements OnApplicationBootstrap, OnModuleDestroy {
  readonly #loops = new Lifetime();

  constructor(
    private readonly changes: ChangeQueries,
    private readonly watch: ChangeWatch,
    private readonly authenticator: Authenticator,
    private readonly clock: Clock,
  ) {}

  onApplicationBootstrap(): void {
    this.#loops.run((signal) => this.watch.run(signal));
  }

  async onModuleDestroy(): Promise<void> {
    await this.#loops.end();
  }

  /** @throws Refusal `slow-down` where too many streams are open. */
  requireRoom(id: string): void {
    if (this.watch.listening >= MOST_STREAMS || this.watch.listeningOf(id) >= MOST_OF_ONE)
      throw new Refusal('slow-down', { detail: 'Too many streams are open.', retryAfter: KEEP_ALIVE_MS / 1_000 });
  }

  /** What a stream says, from the place where the follower was. It asks for more only when what it said was taken. */
  async *events({ id, bearer, lastEventId }: Follower, ended: AbortSignal): AsyncGenerator<ServerSentEvent> {
    const { bell, stop } = this.watch.listen(id);
    try {
      let place = lastEventId === undefined ? null : readChangePlace(lastEventId);
      let isReturning = place !== null;
      let isNew = lastEventId === undefined;
      let spokeAt = Number.NEGATIVE_INFINITY;
      while (!ended.aborted) {
        if (!(await this.isSignedIn(bearer))) {
          yield endEvent('signed-out');
          return;
        }
        let age: AsOf = { asOf: null, behind: true };
        const news = await this.changes.next(id, place, isReturning);
        if (news.kind === 'snapshot') {
          ({ place } = news);
          yield { id: changePlaceText(place), event: isNew ? 'snapshot' : 'reset', data: news.snapshot };
          isNew = false;
          spokeAt = this.clock.monotonic();
        } else if (news.kind === 'changes') {
          for (const { place: after, change } of news.changes)
            yield { id: changePlaceText(after), event: 'change', data: change };
          ({ place, heard: age } = news);
          if (news.changes.length > 0) spokeAt = this.clock.monotonic();
          isReturning = false;
          if (news.more) continue;
        }
        const quiet = this.clock.monotonic() - spokeAt;
        if (quiet >= KEEP_ALIVE_MS) {
          yield {
            ...(place === null ? {} : { id: changePlaceText(place) }),
            event: 'heard',
            data: age,
            comment: 'keep-alive',
          };
          spokeAt = this.clock.monotonic();
        }
        await bell.wait(Math.max(0, KEEP_ALIVE_MS - (this.clock.monotonic() - spokeAt)), ended);
      }
    } finally {
      stop();
    }
  }

  private async isSignedIn(bearer: string): Promise<boolean> {
    try {
      await this.authenticator.authenticate(bearer);
      return true;
    } catch (error) {
      if (error instanceof Refusal && error.code === 'not-signed-in') return false;
      throw error;
    }
  }
}

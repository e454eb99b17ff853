import type { EventStore } from '@rollcall/event-store';
import { Bell, SystemClock, type Clock } from '@rollcall/lifetimes';
import type { ReadModelDatabase } from '../database.js';
import { presenceModel } from './store.js';

/** How long nobody looks while nothing seems to happen. */
const LOOK_EVERY_MS = 1_000;
/** How soon it is looked again while the read model is on its way to what is recorded. */
const LOOK_SOON_MS = 100;

/** Somebody who waits for changes. `bell` rings when there may be some; it is for one waiter. */
export type Listening = { readonly bell: Bell; stop(): void };

/**
 * Looks how far presence has come, once for all streams of an instance, and wakes those whose machines something happened to. It only saves
 * waiting: what is told is read from the table by each stream for itself, which also looks on its own from time to time.
 */
export class ChangeWatch {
  readonly #bell: Bell;
  readonly #listening = new Map<string, Set<Bell>>();
  #seen: bigint | null = null;

  constructor(
    private readonly database: ReadModelDatabase,
    private readonly store: Pick<EventStore, 'newest' | 'onAppended'>,
    private readonly clock: Clock = new SystemClock(),
  ) {
    this.#bell = new Bell(clock);
  }

  /** Streams that are open here. */
  get listening(): number {
    return [...this.#listening.values()].reduce((sum, bells) => sum + bells.size, 0);
  }

  /** Streams of one person that are open here. */
  listeningOf(owner: string): number {
    return this.#listening.get(owner)?.size ?? 0;
  }

  /** Wakes somebody when something happens to the machines of a person, from now on. */
  listen(owner: string): Listening {
    const bell = new Bell(this.clock);
    const bells = this.#listening.get(owner) ?? new Set<Bell>();
    this.#listening.set(owner, bells.add(bell));
    this.#bell.ring();
    return {
      bell,
      stop: () => {
        bells.delete(bell);
        if (bells.size === 0 && this.#listening.get(owner) === bells) this.#listening.delete(owner);
      },
    };
  }

  /** Looks until the signal aborts, and only while somebody listens. Never rejects: who waits looks without being woken, and finds the fault. */
  async run(signal: AbortSignal): Promise<void> {
    const hush = this.store.onAppended(() => this.#bell.ring());
    try {
      while (!signal.aborted) {
        if (this.#listening.size === 0) {
          this.#seen = null;
          await this.#bell.wait(LOOK_EVERY_MS, signal);
          continue;
        }
        const isUpToDate = await this.#look().catch(() => true);
        if (isUpToDate) await this.#bell.wait(LOOK_EVERY_MS, signal);
        // Not woken by each append: under load there is always one more.
        if (!signal.aborted) await this.clock.sleep(LOOK_SOON_MS, signal);
      }
    } finally {
      hush();
    }
  }

  /** True when the read model has applied all that is recorded. */
  async #look(): Promise<boolean> {
    const row = await this.database
      .selectFrom('read_model')
      .select('checkpoint')
      .where('name', '=', presenceModel.name)
      .executeTakeFirst();
    const checkpoint = BigInt(row?.checkpoint ?? 0);
    if (this.#seen === null || checkpoint < this.#seen) this.#ring(this.#listening.keys());
    else if (checkpoint > this.#seen) {
      const changed = await this.database
        .selectFrom('presence_change')
        .select('owner')
        .distinct()
        .where('owner', 'in', [...this.#listening.keys()])
        .where('batch', '>', this.#seen.toString())
        .execute();
      this.#ring(changed.map(({ owner }) => owner));
    }
    this.#seen = checkpoint;
    return checkpoint >= (await this.store.newest()).number;
  }

  #ring(owners: Iterable<string>): void {
    for (const owner of owners) for (const bell of this.#listening.get(owner) ?? []) bell.ring();
  }
}

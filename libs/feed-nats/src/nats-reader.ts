import type { JsMsg } from '@nats-io/jetstream';
import { BATCH_STREAM, FeedMisconfigured, FeedReader, placeOfMessageId, type Delivery } from '@rollcall/feed';
import { Lifetime, SystemClock } from '@rollcall/lifetimes';
import { inWords } from './nats-errors.js';
import { unlessOver, type NatsLink, type NatsSession } from './nats-link.js';
import type { ConsumerSettings } from './settings.js';
import { ensureConsumer } from './setup.js';

/** Half of what may be unacknowledged at a time, so that another instance gets something as well. */
const BUFFER = 32;
/** One request for more; the server sends a sign of life every second of it. */
const PULL = { expires: 5_000, idle_heartbeat: 1_000 };
const RETRY = { first: 200, longest: 5_000 };

const clock = new SystemClock();

/** What a reader tells its feed. */
export type ReaderSurroundings = {
  readonly link: NatsLink;
  readonly settings: ConsumerSettings;
  readonly tell: (sentence: string) => void;
  /** Why it cannot read although the server is there; null when it can. */
  readonly note: (problem: string | null) => void;
  readonly ended: () => void;
};

/**
 * Asks for batches as long as it has room for them. Whatever goes wrong, a lost connection, a consumer or a stream that somebody
 * deleted, a server that was wiped, it begins again from the start: look for the consumer, make it, ask.
 */
export class NatsReader extends FeedReader {
  readonly #life = new Lifetime();
  readonly #waiting: JsMsg[] = [];
  #arrived: () => void = () => undefined;
  #taken: () => void = () => undefined;

  constructor(private readonly around: ReaderSurroundings) {
    super();
    this.#life.run((signal) => this.#keepReading(signal));
  }

  override async take(limit: number, waitMs: number, signal: AbortSignal): Promise<readonly Delivery[]> {
    if (this.#waiting.length === 0) {
      const awake = AbortSignal.any([signal, this.#life.signal]);
      await this.#until((wake) => (this.#arrived = wake), waitMs, awake);
    }
    if (signal.aborted || this.#life.signal.aborted) return [];
    const messages = this.#waiting.splice(0, limit);
    this.#taken();
    return messages.flatMap((message) => {
      const place = placeOfMessageId(message.headers?.get('Nats-Msg-Id') ?? '');
      if (place) return [new NatsDelivery(place.epoch, place.number, message)];
      // Not one of ours. Acknowledged, or it would come again for ever.
      this.around.tell(`A message without the id of a batch (${message.seq} of ${BATCH_STREAM}) is passed over`);
      acknowledge(message);
      return [];
    });
  }

  override async close(): Promise<void> {
    const ended = this.#life.end();
    // For the other instances at once, rather than after the acknowledgement window.
    for (const message of this.#waiting.splice(0)) giveBack(message);
    await ended;
    // Whoever reads from now on says what is wrong.
    this.around.note(null);
    this.around.ended();
  }

  async #keepReading(signal: AbortSignal): Promise<void> {
    const { link, tell, note, settings } = this.around;
    let pause = RETRY.first;
    let last = '';
    while (!signal.aborted) {
      const session = await link.whenUp(signal);
      if (session === null) return;
      try {
        await this.#readOn(session, AbortSignal.any([signal, session.over]), () => {
          note(null);
          pause = RETRY.first;
          last = '';
        });
      } catch (error) {
        if (error instanceof FeedMisconfigured) note(error.message);
        const text = inWords(error);
        if (!signal.aborted && !session.over.aborted && text !== last)
          tell(`The reader ${settings.durable_name} begins again: ${text}`);
        last = text;
      }
      await clock.sleep(pause, signal);
      pause = Math.min(pause * 2, RETRY.longest);
    }
  }

  async #readOn({ manager, jetstream }: NatsSession, over: AbortSignal, onReady: () => void): Promise<void> {
    const { settings, tell } = this.around;
    const { info, isNew } = await unlessOver(over, ensureConsumer(manager, settings));
    if (isNew) tell(`The reader ${settings.durable_name} has a consumer, and reads from now on`);
    onReady();
    const consumer = jetstream.consumers.getConsumerFromInfo(info);
    while (!over.aborted) {
      const room = BUFFER - this.#waiting.length;
      if (room < BUFFER / 4) {
        await this.#until((wake) => (this.#taken = wake), PULL.expires, over);
        continue;
      }
      const pulled = await consumer.fetch({ max_messages: room, ...PULL });
      const stop = (): void => void pulled.close();
      over.addEventListener('abort', stop, { once: true });
      if (over.aborted) stop();
      try {
        for await (const message of pulled) {
          this.#waiting.push(message);
          this.#arrived();
        }
      } finally {
        over.removeEventListener('abort', stop);
      }
    }
  }

  /** Waits for one bell, that long at most. */
  async #until(hang: (wake: () => void) => void, ms: number, signal: AbortSignal): Promise<void> {
    const rung = new AbortController();
    hang(() => rung.abort());
    await clock.sleep(ms, AbortSignal.any([signal, rung.signal]));
    hang(() => undefined);
  }
}

class NatsDelivery implements Delivery {
  constructor(
    readonly epoch: string,
    readonly number: bigint,
    private readonly message: JsMsg,
  ) {}

  get body(): string {
    return this.message.string();
  }

  ack(): void {
    acknowledge(this.message);
  }
}

// Neither is waited for: where the word does not get through, the message comes again, and is known by its number.
const acknowledge = (message: JsMsg): void => unlessClosed(() => message.ack());
const giveBack = (message: JsMsg): void => unlessClosed(() => message.nak());

const unlessClosed = (send: () => void): void => {
  try {
    send();
  } catch {
    // The connection is closed.
  }
};

import {
  BATCH_STREAM,
  BATCH_SUBJECT,
  EVENT_STREAM,
  EVENT_SUBJECTS,
  Feed,
  FeedMessageTooLarge,
  FeedMisconfigured,
  FeedUnavailable,
  MESSAGE_LIMIT_BYTES,
  placeOfEventId,
  placeOfMessageId,
  type EventPlace,
  type FeedMessage,
  type FeedPlace,
  type FeedReader,
  type FeedStatus,
} from '@rollcall/feed';
import { inWords, isNobodyThere, isNoStream } from './nats-errors.js';
import { NatsLink, unlessOver, type NatsSession } from './nats-link.js';
import { NatsReader } from './nats-reader.js';
import {
  consumerSettings,
  DEFAULT_SIZES,
  MESSAGE_BYTES,
  streamSettings,
  type FeedSizes,
  type StreamSettings,
} from './settings.js';
import { changeStream, consumerDrift, ensureStream, streamDrift } from './setup.js';

/** How a plane reaches NATS. */
export type NatsFeedOptions = {
  /** `nats://host:port` or `tls://host:port`, one or several of one cluster. */
  readonly servers: readonly string[];
  /** Owner-only files with one line `user:password`, by role. (Default: none, for a server that asks for none) */
  readonly credentials?: { readonly relay: string; readonly reader: string };
  /** PEM file with the authority of the servers' certificates. (Default: those of the system) */
  readonly caFile?: string;
  readonly sizes?: Partial<FeedSizes>;
  /** Milliseconds until what was taken and not acknowledged comes again. (Default: 30,000) */
  readonly acknowledgeWithinMs?: number;
  /** Milliseconds in which a message has to be confirmed. (Default: 5,000) */
  readonly confirmWithinMs?: number;
  /** Told what changes, in sentences without secrets. */
  readonly tell?: (sentence: string) => void;
};

const IN_FLIGHT = 256;

/** A feed over NATS JetStream, server version 2.9 or newer. It connects, and goes on trying, by itself: nobody waits for it. */
export class NatsFeed extends Feed {
  readonly #problems = new Map<string, string>();
  readonly #readers = new Set<FeedReader>();
  readonly #streams: readonly StreamSettings[];

  private constructor(
    private readonly relay: NatsLink,
    private readonly reader: NatsLink,
    private readonly options: NatsFeedOptions,
  ) {
    super();
    this.#streams = streamSettings({ ...DEFAULT_SIZES, ...options.sizes });
  }

  /**
   * Begins to connect, once for each role, and does not wait for the server.
   *
   * @throws Error when a file with credentials cannot be read
   */
  static async connect(options: NatsFeedOptions): Promise<NatsFeed> {
    const { servers, credentials, caFile = null, tell = () => undefined } = options;
    const common = { servers, caFile, tell };
    const relay = await NatsLink.open({ ...common, role: 'relay', credentialsFile: credentials?.relay ?? null });
    try {
      const reader = { ...common, role: 'projector', credentialsFile: credentials?.reader ?? null } as const;
      return new NatsFeed(relay, await NatsLink.open(reader), options);
    } catch (error) {
      await relay.close();
      throw error;
    }
  }

  override async prepare(): Promise<void> {
    const drift = await this.#asking(async ({ manager, payloadLimit }) => {
      const found: string[] = [];
      if (payloadLimit < MESSAGE_BYTES)
        found.push(`max_payload of the server is ${payloadLimit}, and should be at least ${MESSAGE_BYTES}`);
      for (const settings of this.#streams) found.push(...(await ensureStream(manager, settings)));
      return found;
    });
    if (drift.length > 0) throw new FeedMisconfigured(drift);
  }

  override async publish(messages: readonly FeedMessage[]): Promise<void> {
    const tooLarge = messages.find(({ body }) => Buffer.byteLength(body) > MESSAGE_LIMIT_BYTES);
    if (tooLarge) throw new FeedMessageTooLarge(tooLarge);
    try {
      await this.#send(messages);
    } catch (error) {
      if (!isNobodyThere(error)) throw unavailable(error);
      this.#tell('A stream is missing, and is made again');
      await this.prepare().catch((cause: unknown) => Promise.reject(unavailable(cause)));
      await this.#send(messages).catch((cause: unknown) => Promise.reject(unavailable(cause)));
    }
  }

  override async newest(): Promise<FeedPlace | null> {
    return placeOfMessageId(await this.#newestId(BATCH_STREAM, BATCH_SUBJECT));
  }

  override async newestEvent(): Promise<EventPlace | null> {
    return placeOfEventId(await this.#newestId(EVENT_STREAM, EVENT_SUBJECTS));
  }

  override read(reader: string): FeedReader {
    const reading: FeedReader = new NatsReader({
      link: this.reader,
      settings: this.#consumer(reader),
      tell: (sentence) => this.#tell(sentence),
      note: (problem) => this.#note(`reader ${reader}`, problem),
      ended: () => void this.#readers.delete(reading),
    });
    this.#readers.add(reading);
    return reading;
  }

  override status(): FeedStatus {
    const connected = this.relay.session !== null && this.reader.session !== null;
    const problems = [...new Set([...this.#problems.values(), this.relay.problem, this.reader.problem])];
    return {
      connected,
      connections: this.relay.connections,
      problem: problems.filter((problem) => problem !== null).join('; ') || null,
    };
  }

  override async close(): Promise<void> {
    await Promise.all([...this.#readers].map((reader) => reader.close()));
    await Promise.all([this.relay.close(), this.reader.close()]);
  }

  /**
   * What on the server is not as it must be: one sentence for each setting, stream or consumer.
   *
   * @param signal how long to wait for the connections
   * @throws FeedUnavailable
   */
  async describeSetup(signal: AbortSignal): Promise<readonly string[]> {
    const { relay, reader } = await this.#connected(signal);
    const found: string[] = [];
    for (const settings of this.#streams)
      found.push(...((await streamDrift(relay.manager, settings)) ?? [`stream ${settings.name} is not there`]));
    const consumers = await consumerDrift(reader.manager, (name) => this.#consumer(name));
    return [...found, ...[...consumers.values()].flat()];
  }

  /**
   * Makes and changes streams to what they must be, and deletes consumers that are not: their readers make them again, and follow the
   * record meanwhile. Answers what is left.
   *
   * @param signal how long to wait for the connections
   * @throws FeedUnavailable | FeedMisconfigured where the server refuses a change
   */
  async bringToSetup(signal: AbortSignal): Promise<readonly string[]> {
    const { relay, reader } = await this.#connected(signal);
    for (const settings of this.#streams) {
      const drift = await ensureStream(relay.manager, settings);
      if (drift.length > 0) await changeStream(relay.manager, settings);
    }
    for (const [name, drift] of await consumerDrift(reader.manager, (each) => this.#consumer(each)))
      if (drift.length > 0) await reader.manager.consumers.delete(BATCH_STREAM, name);
    return this.describeSetup(signal);
  }

  async #connected(signal: AbortSignal): Promise<{ readonly relay: NatsSession; readonly reader: NatsSession }> {
    const [relay, reader] = await Promise.all([this.relay.whenUp(signal), this.reader.whenUp(signal)]);
    if (!relay || !reader) throw new FeedUnavailable(this.relay.problem ?? this.reader.problem ?? 'Nobody answers');
    return { relay, reader };
  }

  #consumer(reader: string) {
    return consumerSettings(reader, this.options.acknowledgeWithinMs ?? 30_000);
  }

  /** Puts messages on the wire in their order, a window at a time, and waits for each one's confirmation. */
  async #send(messages: readonly FeedMessage[]): Promise<void> {
    const session = this.#session();
    for (let at = 0; at < messages.length; at += IN_FLIGHT) {
      const window = messages.slice(at, at + IN_FLIGHT).map((message) => this.#confirmed(session, message));
      const failed = (await unlessOver(session.over, Promise.allSettled(window))).find(
        ({ status }) => status === 'rejected',
      );
      if (failed?.status === 'rejected') throw failed.reason;
    }
  }

  async #confirmed({ jetstream }: NatsSession, { subject, id, body }: FeedMessage): Promise<void> {
    const stream = subject === BATCH_SUBJECT ? BATCH_STREAM : EVENT_STREAM;
    const acknowledged = await jetstream.publish(subject, body, {
      msgID: id,
      timeout: this.options.confirmWithinMs ?? 5_000,
      // It also stays with the message: delivered anywhere else, it cannot be stored as one of another stream.
      expect: { streamName: stream },
    });
    if (acknowledged.stream !== stream)
      throw new Error(`${subject} went to the stream ${acknowledged.stream}, and not to ${stream}`);
  }

  #session(): NatsSession {
    const { session } = this.relay;
    if (session === null) throw new FeedUnavailable(this.relay.problem ?? 'There is no connection to NATS yet');
    return session;
  }

  /** Asks the server something over the relay's connection. */
  async #asking<Answer>(ask: (session: NatsSession) => Promise<Answer>): Promise<Answer> {
    try {
      const session = this.#session();
      return await unlessOver(session.over, ask(session));
    } catch (error) {
      throw unavailable(error);
    }
  }

  /** The id of the newest message of a stream; empty where there is none. */
  #newestId(stream: string, subjects: string): Promise<string> {
    return this.#asking(async ({ manager }) => {
      try {
        const message = await manager.streams.getMessage(stream, { last_by_subj: subjects });
        return message?.header.get('Nats-Msg-Id') ?? '';
      } catch (error) {
        if (isNoStream(error)) return '';
        throw error;
      }
    });
  }

  #note(about: string, problem: string | null): void {
    if (problem === null) return void this.#problems.delete(about);
    if (this.#problems.get(about) === problem) return;
    this.#problems.set(about, problem);
    this.#tell(problem);
  }

  #tell(sentence: string): void {
    this.options.tell?.(sentence);
  }
}

const unavailable = (error: unknown): FeedUnavailable =>
  error instanceof FeedUnavailable ? error : new FeedUnavailable(`NATS: ${inWords(error)}`, { cause: error });

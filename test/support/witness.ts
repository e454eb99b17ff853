import { jetstream, jetstreamManager, type JetStreamManager } from '@nats-io/jetstream';
import { connect, type NatsConnection } from '@nats-io/transport-node';
import { EVENT_STREAM, EVENT_SUBJECTS } from '@rollcall/feed';
import type { TestNats } from './nats.js';

/** How long the whole stream may take; a message of a damaged store never comes. */
const STORED_WITHIN_MS = 10_000;

/**
 * Somebody outside who keeps the ids of the ledger events that are published: of each message as it passes, whatever the store makes of it
 * afterwards. What passes while this connection is away has to be looked for in the stream.
 */
export class Witness implements AsyncDisposable {
  /** Ids of events (`event.event_id`). */
  readonly seen = new Set<string>();
  /** Messages that came live, repetitions included. */
  heard = 0;

  private constructor(private readonly connection: NatsConnection) {
    connection.subscribe(EVENT_SUBJECTS, {
      callback: (error, message) => {
        if (error) return;
        this.heard += 1;
        this.seen.add(idOf(message.string()));
      },
    });
  }

  /** Connects as the administrator, and comes back quickly after each loss. */
  static async listen(nats: TestNats): Promise<Witness> {
    const connection = await connect({
      servers: nats.url,
      user: 'admin',
      pass: await nats.password('admin'),
      maxReconnectAttempts: -1,
      reconnectTimeWait: 20,
      reconnectJitter: 0,
      ignoreAuthErrorAbort: true,
    });
    const witness = new Witness(connection);
    await connection.flush();
    return witness;
  }

  /** For faults: what an administrator may do to streams and consumers. */
  admin(): Promise<JetStreamManager> {
    return jetstreamManager(this.connection, { checkAPI: false });
  }

  /** The ids of the events that the stream holds. @throws whatever NATS says, while it is away */
  async stored(): Promise<ReadonlySet<string>> {
    const { state } = await (await this.admin()).streams.info(EVENT_STREAM);
    if (state.messages === 0) return new Set();
    const consumer = await jetstream(this.connection).consumers.get(EVENT_STREAM);
    const messages = await consumer.fetch({ max_messages: state.messages, expires: STORED_WITHIN_MS });
    const ids = new Set<string>();
    for await (const message of messages) ids.add(idOf(message.string()));
    return ids;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.connection.close();
  }
}

const idOf = (text: string): string => (JSON.parse(text) as { readonly id: string }).id;

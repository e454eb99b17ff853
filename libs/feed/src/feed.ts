import type { EventPlace, FeedPlace } from './names.js';

/** Something to publish. */
export type FeedMessage = {
  readonly subject: string;
  /** Kept over repetitions: a server that has stored it within the last two minutes does not store it again. */
  readonly id: string;
  /** UTF-8. */
  readonly body: string;
};

/** A batch that has arrived, possibly late, twice, or before the one in front of it. */
export type Delivery = FeedPlace & {
  /** What `encodeBatch` made. Not read before somebody wants it. */
  readonly body: string;
  /** Says that it never has to come again. Without it, it comes again after the acknowledgement window (30 s). */
  ack(): void;
};

/** How a feed is, for health and for people. */
export type FeedStatus = {
  readonly connected: boolean;
  /** How often a connection was made. Another number than before: the server may have forgotten what it had confirmed. */
  readonly connections: number;
  /** Why it cannot be used although it may be connected; null when it can. */
  readonly problem: string | null;
};

/** The feed cannot be reached, or has not confirmed in time. What was published may have been stored: publish it again, with the same ids. */
export class FeedUnavailable extends Error {
  override readonly name = 'FeedUnavailable';
}

/** How many bytes of UTF-8 a body may have: what a server takes by default (1 MiB), less room for what travels with it. */
export const MESSAGE_LIMIT_BYTES = 1_048_576 - 4_096;

/** A message that no repetition gets through. Nothing of that call was published. */
export class FeedMessageTooLarge extends Error {
  override readonly name = 'FeedMessageTooLarge';
  constructor({ subject, id, body }: FeedMessage) {
    super(`The message ${id} for ${subject} has ${Buffer.byteLength(body)} bytes, and may have ${MESSAGE_LIMIT_BYTES}`);
  }
}

/** The server's streams or consumers are not as they must be, and are left as they are. */
export class FeedMisconfigured extends Error {
  override readonly name = 'FeedMisconfigured';

  /** @param problems one sentence per setting: what it is, and what it should be */
  constructor(readonly problems: readonly string[]) {
    super(`The feed is not set up as it must be: ${problems.join('; ')}`);
  }
}

/** The batches for one reader. All instances of a reader share what comes. */
export abstract class FeedReader {
  /**
   * What has come, in the order of arrival; waits up to `waitMs` for the first. Empty when nothing came, also while the feed is
   * away: a reader then follows the record itself. Never rejects.
   */
  abstract take(limit: number, waitMs: number, signal: AbortSignal): Promise<readonly Delivery[]>;

  /** Ends its share. What was taken and not acknowledged comes again, to whoever reads then. */
  abstract close(): Promise<void>;
}

/**
 * Distributes what is recorded. The record is the truth: a feed may lose, repeat, delay and reorder, and nobody takes its word for what
 * is in between. A type and a Nest token in one.
 */
export abstract class Feed {
  /**
   * Makes what it needs on the server, and compares what is there with what must be.
   *
   * @throws FeedMisconfigured | FeedUnavailable
   */
  abstract prepare(): Promise<void>;

  /**
   * Publishes in this order and resolves when every message is confirmed.
   *
   * @throws FeedUnavailable: some may have been stored. FeedMessageTooLarge: none was, and none will be.
   */
  abstract publish(messages: readonly FeedMessage[]): Promise<void>;

  /**
   * The newest batch that it holds; null when it holds none.
   *
   * @throws FeedUnavailable
   */
  abstract newest(): Promise<FeedPlace | null>;

  /**
   * The newest ledger event that it holds; null when it holds none. Kept apart from the batches, it may have lost more or less than they have.
   *
   * @throws FeedUnavailable
   */
  abstract newestEvent(): Promise<EventPlace | null>;

  /** Begins to read for a read model of that name. Only what comes from now on: the past is the record's to tell. */
  abstract read(reader: string): FeedReader;

  abstract status(): FeedStatus;

  /** Ends its connections; readers first. */
  abstract close(): Promise<void>;
}

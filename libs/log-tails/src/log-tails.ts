/** What a machine uploaded for a request. */
export type LogTail = {
  /** The machine's id. */
  readonly machine: string;
  /** The stamp of the request. */
  readonly stamp: string;
  /** As they came; at most `LOG_TAIL_LIMIT_BYTES`. */
  readonly bytes: Buffer;
};

/** A tail that was kept, and when by the database's clock, in milliseconds since 1970. */
export type KeptLogTail = LogTail & { readonly receivedAt: number };

/**
 * The tails of logs that machines uploaded. They are no part of the record: it says which upload was received, and only that one is read.
 * So a tail is kept before its receipt is decided, and an upload that gets no further has changed nothing that anybody sees.
 */
export abstract class LogTails {
  /** Keeps a tail beside those of other stamps. One that is kept already stays as it is: it answers the same request. */
  abstract keep(tail: LogTail): Promise<void>;
  /** Null where nothing is kept under that stamp. */
  abstract read(machine: string, stamp: string): Promise<KeptLogTail | null>;
  /** Removes the tail of one stamp. */
  abstract discard(machine: string, stamp: string): Promise<void>;
  /** Removes the tails of all earlier stamps of that machine. */
  abstract discardBefore(machine: string, stamp: string): Promise<void>;
  /** Removes everything of a machine that was deleted. */
  abstract forget(machine: string): Promise<void>;
}

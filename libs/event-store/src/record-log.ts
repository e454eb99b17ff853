import type { ClaimChange, Instant, Json } from '@rollcall/decider';
import type { CheckedIn } from '@rollcall/machine';
import type {
  Actor,
  Batch,
  ClaimHolder,
  RecordedEvent,
  RecordedFact,
  RecordedGap,
  RecordHead,
  StreamPast,
  StreamPlace,
  WantedGaps,
  WantedPast,
} from './event-store.js';

/** What a decision wants to know before it is taken. Exactly one of `stream` and `key` is set. */
export type Question = {
  readonly stream: string | null;
  readonly key: string | null;
  /** null for a check: its repetition is a rule of the machine. */
  readonly commandId: string | null;
};

/** The cached fold of a stream. */
export type Head = {
  readonly revision: number;
  readonly fold: number;
  readonly lastCheckAt: Instant | null;
  readonly state: Json;
};

/** What the record knows of one question. */
export type Answer = {
  /** null for a key that nobody holds. */
  readonly stream: string | null;
  /** null for a stream without a head: a new one, unless `lost`. */
  readonly head: Head | null;
  /** There are facts of the stream, but no head: fold it anew. */
  readonly lost: boolean;
  /** The command was recorded before. */
  readonly repeated: boolean;
};

/** A ledger event that is to be recorded. */
export type NewEvent = {
  readonly revision: number;
  readonly commandId: string;
  readonly ordinal: number;
  readonly eventId: string;
  readonly type: string;
  readonly actor: Actor;
  /** Canonical JSON, at most 32 KiB. */
  readonly body: string;
  readonly trace: string | null;
};

/** A check-in that is to be recorded. */
export type NewCheckIn = { readonly revision: number; readonly checkIn: CheckedIn };

/** What the record knows of several questions, in one snapshot. */
export type Answers = {
  readonly now: Instant;
  readonly answers: readonly Answer[];
  /** `continuity` of the connection that answered. */
  readonly continuity: number;
};

/** Everything that one append wants of one stream. */
export type AppendItem = {
  readonly stream: string;
  /** The revision that the decision was made on. */
  readonly expected: number;
  /** There was no head; `append` makes it, and compares with the facts. */
  readonly fresh: boolean;
  readonly revision: number;
  readonly fold: number;
  /** JSON, as it is stored. */
  readonly state: string;
  readonly events: readonly NewEvent[];
  readonly checkIns: readonly NewCheckIn[];
  readonly claims: readonly ClaimChange[];
};

/** What goes with an append. */
export type AppendOptions = {
  /** The W3C `traceparent` that the batch keeps. (Default: null) */
  readonly trace?: string | null;
  /** The `continuity` under which the items were decided; @throws TryAgain where it has moved. (Default: null, whatever it is) */
  readonly continuity?: number | null;
  /** All items are recorded or none is, whatever the others' outcomes are. (Default: false) */
  readonly whole?: boolean;
};

/** `ok`, `conflict` (the head moved) or the key that another stream holds. */
export type ItemOutcome = 'ok' | 'conflict' | { readonly claimTaken: string };

/** What became of one append, item by item. */
export type AppendResult = {
  /** null when no item was recorded. */
  readonly batch: bigint | null;
  readonly recordedAt: Instant;
  readonly outcomes: readonly ItemOutcome[];
};

/** One item (or several) cannot be stored as it is; the call was refused whole and recorded nothing. Try the halves. */
export class ItemsRejected extends Error {
  override readonly name = 'ItemsRejected';
}

/** Nothing was recorded, and the same call may succeed now: a deadlock or a lock that was waited for too long. */
export class TryAgain extends Error {
  override readonly name = 'TryAgain';
}

/** The connection broke or the answer did not come: recorded or not, nobody knows. Ask again with the same ids. */
export class OutcomeUnknown extends Error {
  override readonly name = 'OutcomeUnknown';
}

/** The record cannot take anything at present (no database, no space, no partition). Nothing was recorded. */
export class RecordUnavailable extends Error {
  override readonly name = 'RecordUnavailable';
}

/**
 * What a technology has to offer for a record: read heads, append a batch under compare-and-set, read what is recorded. The rules
 * around it (queue, repetition, conflicts, halves) are written once, in `GroupCommit`, and the contract suite runs on each log.
 */
export abstract class RecordLog {
  /** One round trip. `now` is never before the newest batch. Answers are in the order of the questions. */
  abstract ask(questions: readonly Question[]): Promise<Answers>;

  /** One question that no decision depends on, as fresh as `ask`. */
  abstract look(question: Question): Promise<Answer>;

  /**
   * Moves when the record may be another one than before: after a new connection, behind which may be a restored or a promoted server.
   * Who remembers something of the record forgets it then.
   */
  abstract readonly continuity: number;

  /**
   * One round trip and its own transaction; streams and claim keys occur once each.
   * @throws ItemsRejected | TryAgain | OutcomeUnknown | RecordUnavailable
   */
  abstract append(items: readonly AppendItem[], options?: AppendOptions): Promise<AppendResult>;

  abstract mark(idleMs: number): Promise<boolean>;
  /** Who holds each of at most a thousand keys, in their order; null where nobody ever took one. */
  abstract holders(keys: readonly string[]): Promise<readonly (ClaimHolder | null)[]>;
  abstract readBatches(after: bigint, limit: number): Promise<readonly Batch[]>;
  abstract readStream(stream: string): Promise<readonly RecordedFact[]>;
  abstract readStreamAfter(stream: string, place: StreamPlace, limit: number): Promise<readonly RecordedFact[]>;
  abstract readPast(stream: string, until: Instant, wanted?: WantedPast): Promise<StreamPast>;
  abstract admissionsBy(person: string, after: Instant): Promise<readonly RecordedEvent[]>;
  abstract readGaps(wanted: WantedGaps, limit: number): Promise<readonly RecordedGap[]>;
  abstract newest(): Promise<RecordHead>;
  abstract epoch(): Promise<string>;
  abstract onAppended(listener: () => void): () => void;
  abstract close(): Promise<void>;
}

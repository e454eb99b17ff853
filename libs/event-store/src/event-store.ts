import type { Decider, Instant, Json, Typed } from '@rollcall/decider';
import type { CheckedIn, Gap } from '@rollcall/machine';

/** Who did it: `person` and `automation` come from a session or token, `machine` from its credential, `plane` is the plane itself. */
export type Actor = { readonly kind: 'person' | 'automation' | 'machine' | 'plane'; readonly id: string };

/** A ledger event as it was decided: `type` and a body of canonical JSON. */
export type LedgerEvent = Typed & { readonly [key: string]: Json };

/** A recorded ledger event. */
export type RecordedEvent = {
  readonly kind: 'event';
  readonly stream: string;
  readonly revision: number;
  readonly batch: bigint;
  readonly recordedAt: Instant;
  /** Dense from 0 over all ledger events. */
  readonly position: bigint;
  readonly eventId: string;
  readonly commandId: string;
  readonly ordinal: number;
  readonly actor: Actor;
  readonly event: LedgerEvent;
  /** The recorded bytes of the body (RFC 8785), without `type`. A body that does not parse is parked by readers, never thrown at. */
  readonly body: string;
};

/** A recorded check-in. */
export type RecordedCheckIn = {
  readonly kind: 'check-in';
  /** `machine-<id>` */
  readonly stream: string;
  readonly revision: number;
  readonly batch: bigint;
  readonly recordedAt: Instant;
  readonly checkIn: CheckedIn;
};

/** A fact is a ledger event or a check-in. */
export type RecordedFact = RecordedEvent | RecordedCheckIn;

/** Everything that one append recorded. An empty batch is a mark: the plane could have heard something then (B1, see `isEar`). */
export type Batch = {
  /** Dense from 1, in commit order. */
  readonly number: bigint;
  /** Never before the time of the batch before. */
  readonly recordedAt: Instant;
  /** Ordered by stream, then revision. */
  readonly facts: readonly RecordedFact[];
  /** The W3C `traceparent` of its append, for whoever carries it on; null for a batch of which nobody follows a command. */
  readonly trace: string | null;
};

/** The stream a decision is about: by its name, or by a key that it holds (a credential's hash). An unheld key decides on the initial state. */
export type Target = { readonly stream: string } | { readonly claim: string };

/** Who asks, and by which id the command is known. */
export type DecideOptions = {
  readonly actor: Actor;
  /**
   * Made by the command's origin and kept over its retries (UUID). A repetition appends nothing and is answered from the state.
   * null: the rules of the stream notice a repetition themselves, as a machine's do for checks. (Default: one of its own)
   */
  readonly commandId?: string | null;
  /**
   * It may be decided on the head that this instance wrote last, where it names a stream: the append finds out whether that was still the
   * newest, and if not, or where nothing would be appended, it is decided again on the record. For commands that come often, whose rules
   * look at no time and notice their own repetition. (Default: false)
   */
  readonly onKnownHead?: boolean;
  /** A W3C `traceparent`, for a command that is followed through the plane. Kept with the events. (Default: that of the caller, if it has one) */
  readonly trace?: string | null;
};

/** One of several decisions that stand or fall together; made with {@link part}, which holds its types together. */
export type Part<State = unknown> = {
  readonly decider: Decider<State, Typed, Typed>;
  readonly target: { readonly stream: string };
  readonly command: Typed;
};

/** A command on its stream, to be decided together with others. */
export const part = <State, Command extends Typed, Fact extends Typed>(
  decider: Decider<State, Command, Fact>,
  stream: string,
  command: Command,
): Part<State> => ({ decider, target: { stream }, command });

/** What a decision came to. */
export type Decision<State> = {
  readonly stream: string;
  /** The state after the decision (or as it is, for a repetition). */
  readonly state: State;
  /** The revision of the stream after the decision. */
  readonly revision: number;
  /** True when nothing was appended: the command had been carried out before, or was already done. */
  readonly repeated: boolean;
  /** The batch that recorded it; null when `repeated`. */
  readonly batch: bigint | null;
  /** The batch's time; the time of the decision when `repeated`. */
  readonly recordedAt: Instant;
  /** When the stream's newest check-in was recorded, after the decision; null for a stream without one. */
  readonly lastCheckAt: Instant | null;
};

/** What several decisions that stood together came to, in the order of their parts. */
export type Decisions<Parts extends readonly Part[]> = {
  readonly [Index in keyof Parts]: Parts[Index] extends Part<infer State> ? Decision<State> : never;
};

/** A stream as its head shows it. */
export type StreamView<State> = {
  readonly stream: string;
  readonly state: State;
  readonly revision: number;
  readonly lastCheckAt: Instant | null;
};

/** A stream as it stood at a time of the record. */
export type StreamPast = {
  /** The newest batch until then; `number` is 0n before the first. */
  readonly heard: RecordHead;
  /** The time of the newest ear until then: from there on nobody knows who was silent (B1). null before the first. */
  readonly heardUntil: Instant | null;
  /** Its ledger events until then that were wanted, by revision. */
  readonly events: readonly RecordedEvent[];
  /** The newest of its check-ins until then. */
  readonly newestCheckIn: RecordedCheckIn | null;
};

/** Which events of a past are read. */
export type WantedPast = {
  /** Only those of this type. (Default: of all types) */
  readonly type?: string;
  /** At most so many of them, the newest. (Default: all) */
  readonly newest?: number;
};

/** A place in a stream: behind one of its facts. `STREAM_START` is before the first. */
export type StreamPlace = {
  readonly revision: number;
  /** When that fact was recorded: what follows is looked for from there on. */
  readonly recordedAt: Instant;
};
export const STREAM_START: StreamPlace = { revision: 0, recordedAt: 0 };

/** The types of events by which a person lets a machine in. */
export const ADMITTING_TYPES: readonly string[] = ['TokenIssued', 'CodeApproved'];

/** A time in which the plane was deaf, and the batch of the ear that ended it (B1). */
export type RecordedGap = Gap & { readonly batch: bigint };

/** Which gaps of the record. */
export type WantedGaps = {
  /** Two neighbouring ears further apart than this many seconds have a gap between them. */
  readonly gapSeconds: number;
  /** Begun then or later. */
  readonly since: Instant;
  /** Begun before; null: whenever. */
  readonly before: Instant | null;
  /** Ended later than that. */
  readonly endedAfter: Instant;
};

/** Which stream took a key last, and whether it has given it back. */
export type ClaimHolder = { readonly stream: string; readonly released: boolean };

/** The newest batch. `number` is 0n on an empty record. */
export type RecordHead = { readonly number: bigint; readonly recordedAt: Instant };

/**
 * The record: one append at a time, many facts per append, a dense number per append in commit order. Nothing is acknowledged
 * before it is committed. A type and a Nest token in one.
 */
export abstract class EventStore {
  /**
   * Decides a command on its stream and records the outcome, in one commit that it shares with its neighbours.
   *
   * @throws Refusal what the rule said, or `unavailable` (with `retryAfter` in seconds) when the queue is full, the deadline passed,
   *   the database is away, or three decisions in a row met a conflict. After `unavailable` the outcome may be unknown: retry with
   *   the same command id or checkId.
   */
  abstract decide<State, Command extends Typed, Fact extends Typed>(
    decider: Decider<State, Command, Fact>,
    target: Target,
    command: Command,
    options: DecideOptions,
  ): Promise<Decision<State>>;

  /**
   * Decides commands on several streams and records all of them in one append, or none. A refusal, a conflict or a key that is taken is that of
   * all; after a conflict all are decided again. Where one of the commands had been recorded before, so had the others, and all are answered from
   * the states. For what is rare: it is an append of its own. A command that finds itself already done holds back no other, and its stream is not
   * compared again when the others are recorded.
   *
   * @param parts each of another stream, and no two with the same key in their claims
   * @throws as `decide`
   */
  abstract decideTogether<const Parts extends readonly Part[]>(
    parts: Parts,
    options: Pick<DecideOptions, 'actor' | 'trace'> & { readonly commandId: string },
  ): Promise<Decisions<Parts>>;

  /**
   * Reads a stream's head without deciding anything; null where nothing is recorded (or nobody holds the key).
   * @throws RecordUnavailable as every reading method, while the record cannot be read.
   */
  abstract view<State, Command extends Typed, Fact extends Typed>(
    decider: Decider<State, Command, Fact>,
    target: Target,
  ): Promise<StreamView<State> | null>;

  /** Who holds a key; null where nobody ever took it. */
  abstract holder(key: string): Promise<ClaimHolder | null>;

  /** The batches after a number, whole and in order; at most `limit` of them. */
  abstract readBatches(after: bigint, limit: number): Promise<readonly Batch[]>;

  /** All facts of one stream by revision. */
  abstract readStream(stream: string): Promise<readonly RecordedFact[]>;

  /**
   * What follows a place in a stream, by revision and without a hole, at most `limit` facts: a page of any length of past. Empty where nothing
   * follows yet; a fact that is missing is never skipped, so then nothing follows either.
   */
  abstract readStreamAfter(stream: string, place: StreamPlace, limit: number): Promise<readonly RecordedFact[]>;

  /**
   * A stream as it stood at a time of the record, always the same from then on. Of its check-ins only the newest is read, however many
   * there are, and of its events those that are wanted.
   */
  abstract readPast(stream: string, until: Instant, wanted?: WantedPast): Promise<StreamPast>;

  /**
   * The events by which a person has let machines in, recorded after a time, in the order of the record: the tokens that they issued, and the codes that they
   * approved. Found by an index of its own.
   */
  abstract admissionsBy(person: string, after: Instant): Promise<readonly RecordedEvent[]>;

  /** The gaps between neighbouring ears, ascending, the first `limit` of them; of any past, whoever followed it and with which settings (B1). */
  abstract readGaps(wanted: WantedGaps, limit: number): Promise<readonly RecordedGap[]>;

  /** The newest batch. */
  abstract newest(): Promise<RecordHead>;

  /** The record's epoch (UUID). Readers of another epoch rebuild. */
  abstract epoch(): Promise<string>;

  /**
   * Calls back some time after something was appended, by whichever instance. Only a hint that saves waiting: it may be lost,
   * so a reader also looks on its own. Returns the way to stop it.
   */
  abstract onAppended(listener: () => void): () => void;

  /** Appends an empty batch if the newest ear is at least `idleMs` old, or there is none (B1). True when one was. */
  abstract mark(idleMs: number): Promise<boolean>;

  /** Ends its loops and connections; what is queued is decided first. */
  abstract close(): Promise<void>;
}

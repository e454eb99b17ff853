import pg from 'pg';
import {
  ItemsRejected,
  OutcomeUnknown,
  RecordLog,
  RecordUnavailable,
  TryAgain,
  type Answer,
  type Answers,
  type AppendItem,
  type AppendOptions,
  type AppendResult,
  type Batch,
  type ClaimHolder,
  type ItemOutcome,
  type Question,
  type RecordedCheckIn,
  type RecordedEvent,
  type RecordedFact,
  type RecordedGap,
  type RecordHead,
  STREAM_START,
  type StreamPast,
  type StreamPlace,
  type WantedGaps,
  type WantedPast,
} from '@rollcall/event-store';
import type { Instant, Json } from '@rollcall/decider';
import { machineIdOf } from '@rollcall/machine';
import { AppendHint } from './append-hint.js';
import { texts, Unencodable } from './binary-arrays.js';
import {
  connectionConfig,
  ConnectionLost,
  ConnectionReplaced,
  ReplacedConnection,
  type CallAnswer,
} from './connection.js';
import { appendValues, checkInOf, eventOf, type CheckRow, type EventRow, type Known } from './rows.js';
import * as sql from './sql.js';

/** For reads that grow with a machine's past. */
const SCAN_TIMEOUT_MS = 60_000;

const DAY_MS = 86_400_000;

/** How to reach the record, and how patient to be with it. */
export type PostgresLogOptions = {
  readonly connectionString: string;
  /** Shown in `pg_stat_activity`. (Default: rollcall) */
  readonly applicationName?: string;
  /** After how many milliseconds a call counts as lost. (Default: 4000) */
  readonly callTimeoutMs?: number;
  /** Connections for reading. (Default: 10) */
  readonly readers?: number;
  /** Milliseconds between two looks whether the check-ins of the next days have a place. (Default: 6 hours) */
  readonly partitionsEveryMs?: number;
  /** What went wrong in the background and is tried again; for the log. */
  readonly onTrouble?: (error: unknown) => void;
  /** Wall and steady clock; tests set them. */
  readonly steady?: () => number;
};

/**
 * The record in Postgres. Decisions use one connection of their own, one call at a time; reads use a pool, so neither a storm of
 * checks nor a slow report waits for the other.
 */
export class PostgresLog extends RecordLog {
  private readonly writer: ReplacedConnection;
  private readonly readers: pg.Pool;
  private readonly hint: AppendHint;
  private readonly steady: () => number;
  private readonly callTimeoutMs: number;
  private newestKnown: { readonly recordedAt: Instant; readonly at: number } | null = null;
  private readonly partitions: NodeJS.Timeout;
  private partitionsEnd: Instant | null = null;

  constructor(options: PostgresLogOptions) {
    super();
    const { connectionString, applicationName = 'rollcall', callTimeoutMs = 4_000 } = options;
    const { partitionsEveryMs = 6 * 3_600_000, onTrouble = () => undefined } = options;
    this.steady = options.steady ?? (() => performance.now());
    this.callTimeoutMs = callTimeoutMs;
    this.writer = new ReplacedConnection(connectionString, `${applicationName} writer`, callTimeoutMs);
    this.readers = new pg.Pool({
      ...connectionConfig(connectionString, `${applicationName} reader`),
      max: options.readers ?? 10,
      idleTimeoutMillis: 30_000,
    });
    this.readers.on('error', () => undefined); // an idle connection broke; the pool has dropped it
    this.hint = new AppendHint(connectionString, applicationName, this.readers);
    this.partitions = setInterval(
      () =>
        void this.makePartitions().catch((cause: unknown) =>
          onTrouble(new Error('The partitions for the check-ins of the next days could not be made', { cause })),
        ),
      partitionsEveryMs,
    );
    this.partitions.unref();
  }

  /** Makes the check-in partitions of the next 14 days, by the wall clock and by the record's time. */
  async makePartitions(): Promise<void> {
    const { rows } = await this.readers.query<{ until: string }>(sql.PARTITIONS);
    this.partitionsEnd = Date.parse(`${rows[0]?.until}T00:00:00Z`);
  }

  /** From when on no check-in has a place, as far as this instance has seen to it; null before it has. */
  checkInsEnd(): Instant | null {
    return this.partitionsEnd;
  }

  override async ask(questions: readonly Question[]): Promise<Answers> {
    const values = [questions.map((q) => q.stream), questions.map((q) => q.key), questions.map((q) => q.commandId)];
    const { rows, connection } = await this.call<AskRow>({ name: 'ask', text: sql.ASK, values });
    return { now: rows[0]?.now ?? 0, answers: rows.map(answerOf), continuity: connection };
  }

  /** On a reading connection: what people look at does not queue behind what machines record. */
  override async look(question: Question): Promise<Answer> {
    const values = [[question.stream], [question.key], [question.commandId]];
    const rows = await this.read<AskRow>({ name: 'ask', text: sql.ASK, values });
    return answerOf(rows[0] as AskRow);
  }

  override get continuity(): number {
    return this.writer.connections;
  }

  override async append(
    items: readonly AppendItem[],
    { trace = null, continuity = null, whole = false }: AppendOptions = {},
  ): Promise<AppendResult> {
    const values = encoded(items, this.known(), trace);
    const statement = whole ? { name: 'append-whole', text: sql.APPEND_WHOLE } : { name: 'append', text: sql.APPEND };
    const { rows } = await this.call<AppendRow>({ ...statement, values }, continuity);
    const { batch, recorded_at: recordedAt, codes } = rows[0] as AppendRow;
    this.heard(batch, recordedAt);
    return { batch, recordedAt, outcomes: codes.map(outcomeOf) };
  }

  override async mark(idleMs: number): Promise<boolean> {
    const { rows } = await this.call<AppendRow>({
      name: 'append',
      text: sql.APPEND,
      values: appendValues([], this.known(), { markAfterMs: idleMs }),
    });
    const { batch, recorded_at: recordedAt } = rows[0] as AppendRow;
    this.heard(batch, recordedAt);
    return batch !== null;
  }

  override async holders(keys: readonly string[]): Promise<readonly (ClaimHolder | null)[]> {
    const rows = await this.read<{ stream: string; released: boolean } | { stream: null }>({
      name: 'holders',
      text: sql.HOLDERS,
      values: [texts(keys)],
    });
    return rows.map((row) => (row.stream === null ? null : { stream: row.stream, released: row.released }));
  }

  override async readBatches(after: bigint, limit: number): Promise<readonly Batch[]> {
    const batches = await this.read<BatchRow>({
      name: 'batches',
      text: sql.BATCHES,
      values: [after, limit],
    });
    const first = batches[0];
    const last = batches.at(-1);
    if (!first || !last) return [];
    if (first.number !== after + 1n || last.number !== after + BigInt(batches.length)) {
      throw new Error(`The record has a hole after batch ${after}: ${batches.length} batches up to ${last.number}`);
    }
    const range = [first.number, last.number];
    // A batch is visible with all its facts or not at all, and is never changed: the reads need no common snapshot.
    const [events, checks] = await Promise.all([
      this.read<EventRow>({ name: 'events', text: sql.EVENTS_OF_BATCHES, values: range }, SCAN_TIMEOUT_MS),
      this.read<CheckRow>(
        {
          name: 'checks',
          text: sql.CHECKS_OF_BATCHES,
          values: [...range, new Date(first.recorded_at), new Date(last.recorded_at)],
        },
        SCAN_TIMEOUT_MS,
      ),
    ]);
    const times = new Map(batches.map((batch) => [batch.number, batch.recorded_at]));
    const facts = Map.groupBy<bigint, RecordedFact>(
      [...events.map((row) => eventOf(row, times.get(row.batch) ?? 0)), ...checks.map(checkInOf)],
      (fact) => fact.batch,
    );
    return batches.map(({ number, recorded_at: recordedAt, events: eventCount, checks: checkCount, trace }) => {
      const own = (facts.get(number) ?? []).sort(byStreamAndRevision);
      if (own.length !== eventCount + checkCount) {
        throw new Error(
          `Batch ${number} has ${own.length} facts, but was recorded with ${eventCount} events and ${checkCount} check-ins`,
        );
      }
      return { number, recordedAt, facts: own, trace };
    });
  }

  override async readStream(stream: string): Promise<readonly RecordedFact[]> {
    const machine = stream.startsWith('machine-') ? machineIdOf(stream) : null;
    const [events, checks] = await Promise.all([
      this.read<EventRow & { recorded_at: number }>(
        {
          name: 'events-of-stream',
          text: sql.EVENTS_OF_STREAM,
          values: [stream],
        },
        SCAN_TIMEOUT_MS,
      ),
      machine === null
        ? []
        : this.read<CheckRow>(
            { name: 'checks-of-machine', text: sql.CHECKS_OF_MACHINE, values: [machine] },
            SCAN_TIMEOUT_MS,
          ),
    ]);
    const facts: RecordedFact[] = [...events.map((row) => eventOf(row, row.recorded_at)), ...checks.map(checkInOf)];
    // The two reads have no common snapshot: what was appended between them may show half. Up to the hole it is the whole past.
    const sorted = facts.sort(byStreamAndRevision);
    const hole = sorted.findIndex((fact, index) => fact.revision !== index + 1);
    return hole === -1 ? sorted : sorted.slice(0, hole);
  }

  override async readStreamAfter(stream: string, place: StreamPlace, limit: number): Promise<readonly RecordedFact[]> {
    const rows = await this.read<EventRow & { recorded_at: number }>(
      { name: 'events-of-stream-after', text: sql.EVENTS_OF_STREAM_AFTER, values: [stream, place.revision, limit] },
      SCAN_TIMEOUT_MS,
    );
    const events = rows.map((row) => eventOf(row, row.recorded_at));
    // A stream begins with an event, so nothing of it is older than that.
    const since = place.revision === 0 ? events[0]?.recordedAt : place.recordedAt;
    const isMachine = stream.startsWith('machine-') && since !== undefined;
    const checks = isMachine ? await this.checksAfter(machineIdOf(stream), { ...place, recordedAt: since }, limit) : [];
    // The reads have no common snapshot, and neither of them comes further than its limit: up to the first hole both are whole.
    const facts: RecordedFact[] = [...events, ...checks].sort(byStreamAndRevision);
    const hole = facts.findIndex((fact, index) => fact.revision !== place.revision + index + 1);
    return facts.slice(0, hole === -1 ? limit : Math.min(hole, limit));
  }

  /** Looked for a day at a time, which is a partition or two; where there is nothing, in ever longer steps until the newest batch. */
  private async checksAfter(machine: string, place: StreamPlace, limit: number): Promise<RecordedCheckIn[]> {
    const found: RecordedCheckIn[] = [];
    const { recordedAt: end } = await this.newest();
    let step = DAY_MS;
    for (let from = place.recordedAt; from <= end && found.length < limit;) {
      const to = from + step;
      const values = [
        machine,
        new Date(from).toISOString(),
        new Date(to).toISOString(),
        place.revision,
        limit - found.length,
      ];
      const rows = await this.read<CheckRow>(
        { name: 'checks-of-machine-after', text: sql.CHECKS_OF_MACHINE_AFTER, values },
        SCAN_TIMEOUT_MS,
      );
      found.push(...rows.map(checkInOf));
      step = rows.length === 0 ? step * 2 : DAY_MS;
      from = to;
    }
    return found;
  }

  override async admissionsBy(person: string, after: Instant): Promise<readonly RecordedEvent[]> {
    const number = (await this.batchAt(after))?.number ?? 0n;
    const rows = await this.read<EventRow & { recorded_at: number }>(
      { name: 'admissions-by', text: sql.ADMISSIONS_BY, values: [`person:${person}`, number] },
      SCAN_TIMEOUT_MS,
    );
    return rows.map((row) => eventOf(row, row.recorded_at));
  }

  /** The newest batch until a time. */
  private async batchAt(
    until: Instant,
  ): Promise<{ number: bigint; recorded_at: number; heard_until: number | null } | undefined> {
    const values = [new Date(until).toISOString()];
    const [batch] = await this.read<{ number: bigint; recorded_at: number; heard_until: number | null }>({
      name: 'batch-at',
      text: sql.BATCH_AT,
      values,
    });
    return batch;
  }

  override async readPast(stream: string, until: Instant, { type, newest }: WantedPast = {}): Promise<StreamPast> {
    const batch = await this.batchAt(until);
    if (!batch) return { heard: { number: 0n, recordedAt: 0 }, heardUntil: null, events: [], newestCheckIn: null };
    const rows = await this.read<EventRow & { recorded_at: number }>(
      {
        name: 'events-of-stream-until',
        text: sql.EVENTS_OF_STREAM_UNTIL,
        values: [stream, batch.number, type ?? null, newest ?? null],
      },
      SCAN_TIMEOUT_MS,
    );
    const events = rows.map((row) => eventOf(row, row.recorded_at));
    const isWhole = type === undefined && newest === undefined;
    // A stream begins with an event.
    const [first] = isWhole ? events : await this.readStreamAfter(stream, STREAM_START, 1);
    const since = first?.recordedAt;
    const isMachine = stream.startsWith('machine-') && since !== undefined;
    return {
      heard: { number: batch.number, recordedAt: batch.recorded_at },
      heardUntil: batch.heard_until,
      events,
      newestCheckIn: isMachine ? await this.newestCheckIn(machineIdOf(stream), since, batch.recorded_at) : null,
    };
  }

  /** Looked for a day back, then ever further, until where the stream begins: the nearest days hold it nearly always. */
  private async newestCheckIn(machine: string, since: Instant, until: Instant): Promise<RecordedCheckIn | null> {
    const beginning = since - 1;
    let [from, to] = [until, until];
    for (let span = DAY_MS; from > beginning; span *= 8) {
      [from, to] = [Math.max(beginning, until - span), from];
      const [row] = await this.read<CheckRow>(
        {
          name: 'newest-check-of-machine',
          text: sql.NEWEST_CHECK_OF_MACHINE,
          values: [machine, new Date(from).toISOString(), new Date(to).toISOString()],
        },
        SCAN_TIMEOUT_MS,
      );
      if (row) return checkInOf(row);
    }
    return null;
  }

  override async readGaps(
    { gapSeconds, since, before, endedAfter }: WantedGaps,
    limit: number,
  ): Promise<readonly RecordedGap[]> {
    const time = (instant: Instant) => new Date(instant).toISOString();
    const [name, text] = gapSeconds >= 10 ? ['gaps', sql.GAPS] : ['short-gaps', sql.SHORT_GAPS];
    const values = [gapSeconds, time(since), before === null ? null : time(before), time(endedAfter), limit];
    const rows = await this.read<{ batch: bigint; since: number; until: number }>(
      { name, text, values },
      SCAN_TIMEOUT_MS,
    );
    return rows.map(({ batch, since: from, until }) => ({ batch, from, until }));
  }

  override async newest(): Promise<RecordHead> {
    const rows = await this.read<{ number: bigint; recorded_at: number }>({
      name: 'newest',
      text: sql.NEWEST,
    });
    return { number: rows[0]?.number ?? 0n, recordedAt: rows[0]?.recorded_at ?? 0 };
  }

  override async epoch(): Promise<string> {
    const rows = await this.read<{ epoch: string }>({ name: 'epoch', text: sql.EPOCH });
    return (rows[0] as { epoch: string }).epoch;
  }

  override onAppended(listener: () => void): () => void {
    return this.hint.listen(listener);
  }

  override async close(): Promise<void> {
    clearInterval(this.partitions);
    await this.hint.close();
    await Promise.all([this.writer.close(), this.readers.end()]);
  }

  /** The server process of the writer; for tests that end or stop it. */
  writerProcessId(): Promise<number> {
    return this.writer.processId();
  }

  private known(): Known {
    return (
      this.newestKnown && {
        recordedAt: this.newestKnown.recordedAt,
        elapsedMs: Math.max(0, this.steady() - this.newestKnown.at),
      }
    );
  }

  /** The time of an append also counts where it recorded nothing: it is what the record's time had come to. */
  private heard(batch: bigint | null, recordedAt: Instant): void {
    this.newestKnown = { recordedAt, at: this.steady() };
    if (batch !== null) this.hint.announce(batch);
  }

  /** A server that has gone silent is not waited for; the connection is given up. */
  private async read<Row extends pg.QueryResultRow>(
    query: pg.QueryConfig,
    timeoutMs = this.callTimeoutMs,
  ): Promise<Row[]> {
    const patient: pg.QueryConfig & pg.ClientConfig = { ...query, query_timeout: timeoutMs };
    try {
      return (await this.readers.query<Row>(patient)).rows;
    } catch (error) {
      if (error instanceof pg.DatabaseError) throw translated(error);
      throw new RecordUnavailable('The record cannot be read at present', { cause: error });
    }
  }

  private async call<Row extends pg.QueryResultRow>(
    query: pg.QueryConfig,
    connection: number | null = null,
  ): Promise<CallAnswer<Row>> {
    try {
      return await this.writer.query<Row>(query, connection).catch(async (error: unknown) => {
        if (!lacksPartition(error)) throw error;
        // Nothing was recorded. Nobody prepared for this day, because the clock was changed or no service ran.
        await this.makePartitions().catch(() => Promise.reject(error));
        return this.writer.query<Row>(query, connection);
      });
    } catch (error) {
      throw translated(error);
    }
  }
}

type AskRow = {
  readonly stream: string | null;
  readonly revision: number | null;
  readonly fold: number | null;
  readonly last_check_at: Instant | null;
  readonly state: Json;
  readonly lost: boolean;
  readonly repeated: boolean;
  readonly now: Instant;
};
type AppendRow = { readonly batch: bigint | null; readonly recorded_at: Instant; readonly codes: readonly string[] };
type BatchRow = {
  readonly number: bigint;
  readonly recorded_at: Instant;
  readonly events: number;
  readonly checks: number;
  readonly trace: string | null;
};

const answerOf = ({ stream, revision, fold, last_check_at: lastCheckAt, state, lost, repeated }: AskRow): Answer => {
  const head = revision === null || fold === null ? null : { revision, fold, lastCheckAt, state };
  return { stream, head, lost, repeated };
};

/** @throws ItemsRejected before anything is sent. */
const encoded = (items: readonly AppendItem[], known: Known, trace: string | null): unknown[] => {
  try {
    return appendValues(items, known, { trace });
  } catch (error) {
    if (error instanceof Unencodable) throw new ItemsRejected(error.message, { cause: error });
    throw error;
  }
};

const outcomeOf = (code: string): ItemOutcome => {
  if (code === 'ok' || code === 'conflict') return code;
  return { claimTaken: code.slice('claim:'.length) };
};

const byStreamAndRevision = (a: RecordedFact, b: RecordedFact): number => {
  if (a.stream !== b.stream) return a.stream < b.stream ? -1 : 1;
  return a.revision - b.revision;
};

/** A check that is violated and has no name: there is no partition for this day. */
const lacksPartition = (error: unknown): error is pg.DatabaseError =>
  error instanceof pg.DatabaseError && error.code === '23514' && !error.constraint;

/** What Postgres says, in the words of the port. */
const translated = (error: unknown): Error => {
  if (error instanceof ConnectionReplaced) return new TryAgain(error.message, { cause: error });
  if (error instanceof ConnectionLost) {
    return error.when === 'before'
      ? new RecordUnavailable(error.message, { cause: error })
      : new OutcomeUnknown(error.message, { cause: error });
  }
  if (!(error instanceof pg.DatabaseError)) return error instanceof Error ? error : new Error(String(error));
  const code = error.code ?? '';
  const message = `${code}: ${error.message}`;
  if (['40P01', '55P03', '40001'].includes(code)) return new TryAgain(message, { cause: error });
  // Nobody's bad item.
  if (lacksPartition(error)) return new RecordUnavailable(message, { cause: error });
  // 54: a key or a text that is longer than an index takes.
  if (/^(22|23|54)/.test(code)) return new ItemsRejected(message, { cause: error });
  return new RecordUnavailable(message, { cause: error });
};

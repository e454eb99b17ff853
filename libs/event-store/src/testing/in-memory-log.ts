import { randomUUID } from 'node:crypto';
import type { Instant, Json } from '@rollcall/decider';
import { gapBetween } from '@rollcall/machine';
import {
  ADMITTING_TYPES,
  isEar,
  LogBackedStore,
  RecordLog,
  TryAgain,
  type AppendItem,
  type AppendOptions,
  type AppendResult,
  type Answer,
  type Answers,
  type Batch,
  type ClaimHolder,
  type GroupCommitOptions,
  type Head,
  type ItemOutcome,
  type LedgerEvent,
  type Question,
  type RecordedCheckIn,
  type RecordedEvent,
  type RecordedFact,
  type RecordedGap,
  type RecordHead,
  type StreamPast,
  type StreamPlace,
  type WantedGaps,
  type WantedPast,
} from '../index.js';

/** The record in memory, with the same promises as Postgres: one order, compare-and-set on revisions and claims, dense batches. */
export class InMemoryLog extends RecordLog {
  private readonly batches: Batch[] = [];
  private readonly heads = new Map<string, Head>();
  private readonly claims = new Map<string, ClaimHolder>();
  private readonly commands = new Set<string>();
  private readonly listeners = new Set<() => void>();
  private positions = 0n;
  private epochId = randomUUID();
  continuity = 0;

  constructor(private readonly now: () => Instant) {
    super();
  }

  override ask(questions: readonly Question[]): Promise<Answers> {
    const answers = questions.map(({ stream: named, key, commandId }): Answer => {
      const held = key === null ? undefined : this.claims.get(key);
      const stream = named ?? (held && !held.released ? held.stream : null);
      if (stream === null) return { stream, head: null, lost: false, repeated: false };
      const head = this.heads.get(stream) ?? null;
      const lost = head === null && this.factsOf(stream).length > 0;
      return {
        stream,
        head: head && structuredClone(head),
        lost,
        repeated: commandId !== null && this.commands.has(`${stream} ${commandId}`),
      };
    });
    return Promise.resolve({ now: this.clock(), answers, continuity: this.continuity });
  }

  override async look(question: Question): Promise<Answer> {
    const { answers } = await this.ask([question]);
    return answers[0] as Answer;
  }

  override append(
    items: readonly AppendItem[],
    { trace = null, continuity = null, whole = false }: AppendOptions = {},
  ): Promise<AppendResult> {
    if (continuity !== null && continuity !== this.continuity)
      return Promise.reject(new TryAgain('The record is another one'));
    const outcomes = items.map((item) => this.judge(item));
    const fallen = whole && outcomes.some((outcome) => outcome !== 'ok');
    const accepted = fallen ? [] : items.filter((_, index) => outcomes[index] === 'ok');
    const recordedAt = this.clock();
    if (accepted.length === 0) return Promise.resolve({ batch: null, recordedAt, outcomes });
    const number = BigInt(this.batches.length + 1);
    const sorted = accepted.toSorted((a, b) => (a.stream < b.stream ? -1 : 1));
    const facts = sorted.flatMap((item) => this.factsFor(item, number, recordedAt));
    for (const item of accepted) this.keep(item, recordedAt);
    this.batches.push({ number, recordedAt, facts, trace });
    this.announce();
    return Promise.resolve({ batch: number, recordedAt, outcomes });
  }

  override mark(idleMs: number): Promise<boolean> {
    const ear = this.batches.findLast(isEar);
    const recordedAt = this.clock();
    if (ear && recordedAt - ear.recordedAt < idleMs) return Promise.resolve(false);
    this.batches.push({ number: BigInt(this.batches.length + 1), recordedAt, facts: [], trace: null });
    this.announce();
    return Promise.resolve(true);
  }

  override holders(keys: readonly string[]): Promise<readonly (ClaimHolder | null)[]> {
    return Promise.resolve(keys.map((key) => this.claims.get(key) ?? null));
  }

  override readBatches(after: bigint, limit: number): Promise<readonly Batch[]> {
    return Promise.resolve(this.batches.slice(Number(after), Number(after) + limit));
  }

  override readStream(stream: string): Promise<readonly RecordedFact[]> {
    return Promise.resolve(this.factsOf(stream));
  }

  override readStreamAfter(stream: string, place: StreamPlace, limit: number): Promise<readonly RecordedFact[]> {
    return Promise.resolve(this.factsOf(stream).slice(place.revision, place.revision + limit));
  }

  override readPast(stream: string, until: Instant, { type, newest }: WantedPast = {}): Promise<StreamPast> {
    const batches = this.batches.filter(({ recordedAt }) => recordedAt <= until);
    const heard = batches.at(-1);
    const facts = this.factsOf(stream).filter(({ recordedAt }) => recordedAt <= until);
    const events = facts.filter((fact) => fact.kind === 'event');
    const ofType = type === undefined ? events : events.filter(({ event }) => event.type === type);
    return Promise.resolve({
      heard: { number: heard?.number ?? 0n, recordedAt: heard?.recordedAt ?? 0 },
      heardUntil: batches.findLast(isEar)?.recordedAt ?? null,
      events: newest === undefined ? ofType : ofType.slice(-newest),
      newestCheckIn: facts.findLast((fact) => fact.kind === 'check-in') ?? null,
    });
  }

  override admissionsBy(person: string, after: Instant): Promise<readonly RecordedEvent[]> {
    const events = this.batches.flatMap(({ facts }) => facts).filter((fact) => fact.kind === 'event');
    const isWanted = ({ actor, event, recordedAt }: RecordedEvent) =>
      actor.kind === 'person' && actor.id === person && ADMITTING_TYPES.includes(event.type) && recordedAt > after;
    return Promise.resolve(events.filter(isWanted));
  }

  override readGaps({ gapSeconds, since, before, endedAfter }: WantedGaps, limit: number): Promise<RecordedGap[]> {
    const ears = this.batches.filter(isEar);
    const gaps = ears.slice(1).flatMap(({ number: batch, recordedAt }, index) => {
      const gap = gapBetween(ears[index]!.recordedAt, recordedAt, gapSeconds);
      return gap === null ? [] : [{ batch, ...gap }];
    });
    const isWanted = ({ from, until }: RecordedGap) =>
      from >= since && (before === null || from < before) && until > endedAfter;
    return Promise.resolve(gaps.filter(isWanted).slice(0, limit));
  }

  override newest(): Promise<RecordHead> {
    const newest = this.batches.at(-1);
    return Promise.resolve({ number: newest?.number ?? 0n, recordedAt: newest?.recordedAt ?? 0 });
  }

  override epoch(): Promise<string> {
    return Promise.resolve(this.epochId);
  }

  override onAppended(listener: () => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  override close(): Promise<void> {
    this.listeners.clear();
    return Promise.resolve();
  }

  /** Forgets the cache, as an operator may. */
  dropHeads(): void {
    this.heads.clear();
  }

  /** The connection was a new one. */
  reconnect(): void {
    this.continuity += 1;
  }

  /** A restore took place. */
  renewEpoch(): void {
    this.epochId = randomUUID();
  }

  private clock(): Instant {
    return Math.max(this.now(), this.batches.at(-1)?.recordedAt ?? 0);
  }

  private factsOf(stream: string): readonly RecordedFact[] {
    return this.batches.flatMap((batch) => batch.facts.filter((fact) => fact.stream === stream));
  }

  private judge(item: AppendItem): ItemOutcome {
    const recorded = item.fresh ? (this.factsOf(item.stream).at(-1)?.revision ?? 0) : item.expected;
    const current = this.heads.get(item.stream)?.revision ?? (item.fresh ? recorded : -1);
    if (current !== item.expected || recorded !== item.expected) return 'conflict';
    const taken = item.claims.find(({ key, op }) => {
      const held = this.claims.get(key);
      return held && held.stream !== item.stream && (op === 'release' || !held.released);
    });
    return taken ? { claimTaken: taken.key } : 'ok';
  }

  private factsFor(item: AppendItem, batch: bigint, recordedAt: Instant): RecordedFact[] {
    const place = { stream: item.stream, batch, recordedAt };
    const events = item.events.map((event): RecordedEvent => {
      const { revision, eventId, commandId, ordinal, actor, body, type } = event;
      this.commands.add(`${item.stream} ${commandId}`);
      const position = this.positions;
      this.positions += 1n;
      const decided = { ...(JSON.parse(body) as object), type } as LedgerEvent;
      return { kind: 'event', ...place, revision, position, eventId, commandId, ordinal, actor, event: decided, body };
    });
    const checkIns = item.checkIns.map(({ revision, checkIn: { chain: _chain, ...checkIn } }): RecordedCheckIn => ({
      kind: 'check-in',
      ...place,
      revision,
      checkIn,
    }));
    return [...events, ...checkIns].sort((a, b) => a.revision - b.revision);
  }

  private keep(item: AppendItem, recordedAt: Instant): void {
    for (const { key, op } of item.claims) this.claims.set(key, { stream: item.stream, released: op === 'release' });
    const before = this.heads.get(item.stream)?.lastCheckAt ?? this.lastCheckOf(item.stream);
    const lastCheckAt = item.checkIns.length > 0 ? recordedAt : before;
    this.heads.set(item.stream, {
      revision: item.revision,
      fold: item.fold,
      lastCheckAt,
      state: JSON.parse(item.state) as Json,
    });
  }

  private lastCheckOf(stream: string): Instant | null {
    return this.factsOf(stream).findLast((fact) => fact.kind === 'check-in')?.recordedAt ?? null;
  }

  private announce(): void {
    for (const listener of this.listeners) queueMicrotask(listener);
  }
}

/** The fake of the `EventStore` port. */
export class InMemoryEventStore extends LogBackedStore {
  declare protected readonly log: InMemoryLog;

  constructor({ now = () => Date.now(), ...options }: { readonly now?: () => Instant } & GroupCommitOptions = {}) {
    super(new InMemoryLog(now), options);
  }

  dropHeads(): void {
    this.log.dropHeads();
  }

  renewEpoch(): void {
    this.log.renewEpoch();
  }
}

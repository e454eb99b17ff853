import { randomUUID } from 'node:crypto';
import { mayRecord } from '@rollcall/authorisation';
import { Refusal, type Decider, type Instant, type Json, type Moment, type Typed } from '@rollcall/decider';
import type { CheckedIn } from '@rollcall/machine';
import { KnownHeads } from './known-heads.js';
import { bodyOf, refuseUnstorable, storable } from './body.js';
import type { DecideOptions, Decision, Part, RecordedFact, Target } from './event-store.js';
import type { TraceAppend, TracedAppend } from './tracing.js';
import {
  ItemsRejected,
  TryAgain,
  type Answer,
  type Answers,
  type AppendItem,
  type AppendResult,
  type Head,
  type NewCheckIn,
  type NewEvent,
  type Question,
  type RecordLog,
} from './record-log.js';

/** An append lost because another stream holds a key that the decision wants. Look again before deciding anew. */
export class ClaimTaken extends Error {
  override readonly name = 'ClaimTaken';
  constructor(readonly key: string) {
    super(`Another stream holds ${key.slice(0, key.indexOf(':'))}`);
  }
}

/** The rules stumbled over facts of the stream that they are about. */
class FoldFailed extends Error {
  override readonly name = 'FoldFailed';
}

/** The bounds of a group commit. */
export type GroupCommitOptions = {
  /** Most decisions in one append. (Default: 1000) */
  readonly batchLimit?: number;
  /** Most decisions that wait; beyond it a caller is refused at once. (Default: 5000) */
  readonly queueLimit?: number;
  /** Milliseconds after which a waiting caller is answered `unavailable`. (Default: 5000) */
  readonly deadlineMs?: number;
  /** What went wrong and was tried again; for the log. */
  readonly onTrouble?: (error: unknown) => void;
  /** Each append that was committed; for measurements. */
  readonly onAppend?: (append: CommittedAppend) => void;
  /** The `traceparent` of whatever calls `decide`, where its options name none. (Default: nothing is followed) */
  readonly currentTrace?: () => string | null;
  /** Follows the append of a command that has a trace. (Default: the batch keeps the command's own trace) */
  readonly traceAppend?: TraceAppend;
};

/** An append that was committed: how many facts it recorded, and the milliseconds until its answer. */
export type CommittedAppend = { readonly facts: number; readonly ms: number };

// The queue treats all deciders alike; what a caller gets back has its own types (see `decide`).
type AnyDecider = Decider<unknown, Typed, Typed>;

type Waiting = {
  readonly decider: AnyDecider;
  readonly target: Target;
  readonly command: Typed;
  readonly options: DecideOptions;
  readonly trace: string | null;
  /** Kept over every internal retry, so an outcome that nobody knows is found again as a repetition. */
  readonly commandId: string;
  readonly expires: number;
  conflicts: number;
  settled: boolean;
  readonly resolve: (decision: Decision<unknown>) => void;
  readonly reject: (error: unknown) => void;
};

/** What became of one waiting command on the folded state of its stream. */
type Outcome =
  | { readonly entry: Waiting; readonly refusal: unknown }
  | { readonly entry: Waiting; readonly state: unknown; readonly revision: number; readonly appended: boolean };

/** The commands of one stream in one round, decided one on the other's result; they are recorded, or decided again, together. */
type Group = {
  readonly stream: string;
  readonly item: AppendItem | null;
  readonly outcomes: readonly Outcome[];
  /** It was decided on a head that this instance remembered. */
  readonly relies: boolean;
  readonly lastCheckAt: Instant | null;
};

/** A command and what the record (or a known head) says about its question. */
type Sharer = { readonly entry: Waiting; readonly answer: Answer };

const CONFLICTS_ALLOWED = 3;
const RETRY_AFTER_SECONDS = 2;
/** How long whoever closes waits for a record that does not take appends: it may be between two connections. */
const CLOSE_PATIENCE_MS = 500;
/** Heads that are remembered for commands that may rest on one: about 70 MB. */
const KNOWN_HEADS = 50_000;

/**
 * Turns many concurrent decisions into few appends. While one round is in flight the next gathers, so the size of a batch
 * follows the load and no timer adds latency. Nobody else's failure is a caller's: a refusal, a conflict, a taken claim and a
 * body that cannot be stored each concern their own caller.
 */
export class GroupCommit {
  private waiting: Waiting[] = [];
  /** Commands that stand or fall together; each bond has a round of its own. */
  private bonds: (readonly Waiting[])[] = [];
  private running: Promise<void> | null = null;
  private sweeper: NodeJS.Timeout | null = null;
  /** When a record that does not take appends is waited for no longer; null until it is closed. */
  private closeBy: number | null = null;
  /** Milliseconds to wait after a round that failed whole; longer each time. */
  private pause = 0;
  private readonly inFlight = new Set<Waiting>();
  private readonly known: KnownHeads;
  /** The record's time when it was last heard of, for decisions that do not ask it. */
  private heardAt: Instant = 0;
  private readonly batchLimit: number;
  private readonly queueLimit: number;
  private readonly deadlineMs: number;
  private readonly onTrouble: (error: unknown) => void;
  private readonly onAppend: (append: CommittedAppend) => void;
  private readonly currentTrace: () => string | null;
  private readonly traceAppend: TraceAppend;

  constructor(
    private readonly log: RecordLog,
    options: GroupCommitOptions = {},
  ) {
    this.batchLimit = options.batchLimit ?? 1000;
    this.queueLimit = options.queueLimit ?? 5000;
    this.deadlineMs = options.deadlineMs ?? 5000;
    this.known = new KnownHeads(KNOWN_HEADS);
    this.onTrouble = options.onTrouble ?? (() => undefined);
    this.onAppend = options.onAppend ?? (() => undefined);
    this.currentTrace = options.currentTrace ?? (() => null);
    this.traceAppend = options.traceAppend ?? ((parent) => ({ trace: parent, end: () => undefined }));
  }

  decide<State, Command extends Typed, Fact extends Typed>(
    decider: Decider<State, Command, Fact>,
    target: Target,
    command: Command,
    options: DecideOptions,
  ): Promise<Decision<State>> {
    if (this.isFull()) return Promise.reject(unavailable());
    return new Promise((resolve, reject) => {
      const asked = { decider, target, command } as unknown as Part;
      this.waiting.push(
        this.waitingFor(asked, options, { resolve: resolve as (decision: Decision<unknown>) => void, reject }),
      );
      this.wake();
    });
  }

  /** See `EventStore.decideTogether`. */
  decideTogether(
    parts: readonly Part[],
    options: Pick<DecideOptions, 'actor' | 'trace'> & { readonly commandId: string },
  ): Promise<readonly Decision<unknown>[]> {
    if (this.isFull()) return Promise.reject(unavailable());
    const bond: Waiting[] = [];
    const decisions = parts.map(
      (each) =>
        new Promise<Decision<unknown>>((resolve, reject) => {
          bond.push(this.waitingFor(each, options, { resolve, reject }));
        }),
    );
    this.bonds.push(bond);
    this.wake();
    return Promise.all(decisions);
  }

  /** Decisions that wait for an append or are in one. */
  queued(): number {
    return this.waiting.length + this.bonds.length + this.inFlight.size;
  }

  private isFull(): boolean {
    return this.closeBy !== null || this.waiting.length + this.bonds.length >= this.queueLimit;
  }

  private waitingFor(
    { decider, target, command }: Omit<Part, 'target'> & { readonly target: Target },
    options: DecideOptions,
    caller: Pick<Waiting, 'resolve' | 'reject'>,
  ): Waiting {
    return {
      decider,
      target,
      command,
      options,
      trace: options.trace ?? this.currentTrace(),
      commandId: options.commandId ?? randomUUID(),
      expires: performance.now() + this.deadlineMs,
      conflicts: 0,
      settled: false,
      ...caller,
    };
  }

  /** Decides what is queued, then ends. Where the record does not take it, who waits is answered `unavailable` after half a second. */
  async close(): Promise<void> {
    this.closeBy ??= performance.now() + CLOSE_PATIENCE_MS;
    while (this.running) await this.running;
    if (this.sweeper) clearInterval(this.sweeper);
  }

  private wake(): void {
    this.sweeper ??= setInterval(() => this.sweep(), 100);
    this.running ??= new Promise<void>((done) => {
      setImmediate(() => {
        void this.drain().finally(() => {
          this.running = null;
          if (this.waiting.length + this.bonds.length > 0) this.wake();
          else if (this.sweeper) {
            clearInterval(this.sweeper);
            this.sweeper = null;
          }
          done();
        });
      });
    });
  }

  /** A caller is answered at its deadline even if the database is not. What was sent may still be recorded. */
  private sweep(): void {
    const now = performance.now();
    const isGivenUp = this.pause > 0 && this.closeBy !== null && this.closeBy <= now;
    for (const entry of [...this.inFlight, ...this.waiting, ...this.bonds.flat()]) {
      if (isGivenUp || entry.expires <= now) this.settle(entry, () => entry.reject(unavailable()));
    }
    this.waiting = this.waiting.filter((entry) => !entry.settled);
    this.bonds = this.bonds.filter((bond) => !isSettled(bond));
  }

  private async drain(): Promise<void> {
    while (this.waiting.length + this.bonds.length > 0) {
      if (this.waiting.length > 0) {
        const entries = this.waiting.splice(0, this.batchLimit);
        await this.attempt(
          entries,
          () => this.round(entries),
          () => this.again(entries),
        );
      }
      const bond = this.bonds.shift();
      if (bond)
        await this.attempt(
          bond,
          () => this.roundTogether(bond),
          () => this.bonds.unshift(bond),
        );
    }
  }

  private async attempt(entries: readonly Waiting[], round: () => Promise<void>, again: () => void): Promise<void> {
    for (const entry of entries) this.inFlight.add(entry);
    try {
      await round();
      this.pause = 0;
    } catch (error) {
      // Nothing was recorded, or nobody knows. Everybody is asked again with the same ids: what was recorded shows as a repetition.
      this.onTrouble(error);
      // After a lock that was waited for too long, everything is as it was.
      if (!(error instanceof TryAgain)) this.known.forgetAll();
      again();
      this.pause = Math.min(1000, this.pause === 0 ? 10 : this.pause * 2);
      await new Promise((resume) => setTimeout(resume, this.pause));
    } finally {
      for (const entry of entries) this.inFlight.delete(entry);
    }
  }

  private async round(entries: readonly Waiting[]): Promise<void> {
    const { relying, asking } = this.onKnownHeads(entries);
    const { continuity: before } = this.known;
    const asked = asking.length > 0 ? await this.asked(asking) : null;
    // Null also where the record would not be asked: then the halves went through rounds of their own.
    const { now, answers, continuity } = asked ?? { now: this.heardAt, answers: [], continuity: before };
    this.heardAt = now;
    const byStream = new Map<string, Sharer[]>();
    for (const [index, entry] of (asked ? asking : []).entries()) {
      const answer = answers[index] as Answer;
      if (entry.settled) continue;
      if (answer.stream === null) this.decideUnheld(entry, now);
      else {
        if (answer.head) this.known.compare(answer.stream, answer.head.revision);
        const sharers = byStream.get(answer.stream);
        // One that met a conflict is decided alone on its stream: what it shares with a neighbour must not fail it twice.
        if (sharers && (entry.conflicts > 0 || sharers.some((sharer) => sharer.entry.conflicts > 0)))
          this.waiting.push(entry);
        else if (sharers) sharers.push({ entry, answer });
        else byStream.set(answer.stream, [{ entry, answer }]);
      }
    }
    const decided = await Promise.all(
      Array.from(byStream, ([stream, sharers]) => this.decideGroup(stream, sharers, now)),
    );
    const groups: Group[] = [];
    const keys = new Set<string>();
    for (const group of [...relying, ...decided]) {
      // A stream is written to once in an append. What rests on what the record just said goes first, and alone on a new connection.
      const isOvertaken = group.relies && (byStream.has(group.stream) || continuity !== before);
      const claims = group.item?.claims ?? [];
      // Two streams that want one key must not meet in a batch: the second sees the first's claim in the next round.
      if (isOvertaken || claims.some((claim) => keys.has(claim.key)))
        this.waiting.push(...group.outcomes.map((outcome) => outcome.entry));
      else {
        for (const claim of claims) keys.add(claim.key);
        groups.push(group);
      }
    }
    const writing = groups.filter((group) => group.item !== null);
    for (const group of groups) if (group.item === null) this.settleGroup(group, null, now);
    if (writing.length > 0) await this.append(writing, continuity);
  }

  /**
   * Decides what may rest on a known head. An append compares the revision, so what is recorded was decided on the truth; a refusal or a
   * repetition is compared with nothing, so it is not believed, and the record is asked.
   */
  private onKnownHeads(entries: readonly Waiting[]): {
    readonly relying: readonly Group[];
    readonly asking: readonly Waiting[];
  } {
    this.known.onContinuity(this.log.continuity);
    const asking: Waiting[] = [];
    const byStream = new Map<string, Sharer[]>();
    for (const entry of entries) {
      const { target, options } = entry;
      if (entry.settled) continue;
      const stream = options.onKnownHead && 'stream' in target ? target.stream : null;
      const sharers = stream === null ? undefined : byStream.get(stream);
      const head = stream === null || sharers ? null : this.known.reliable(stream, entry.decider.fold);
      if (sharers) sharers.push({ entry, answer: (sharers[0] as Sharer).answer });
      else if (stream !== null && head)
        byStream.set(stream, [{ entry, answer: { stream, head, lost: false, repeated: false } }]);
      else asking.push(entry);
    }
    const relying: Group[] = [];
    for (const [stream, sharers] of byStream) {
      const { head } = (sharers[0] as Sharer).answer;
      const group = decideOn({ ...(head as Head), fresh: false }, stream, sharers, { now: this.heardAt, relies: true });
      if (group.outcomes.every((outcome) => 'appended' in outcome && outcome.appended)) relying.push(group);
      else asking.push(...sharers.map(({ entry }) => entry));
    }
    return { relying, asking };
  }

  /** Null when the record would not even be asked: then the halves were taken through a round of their own. */
  private async asked(entries: readonly Waiting[]): Promise<Answers | null> {
    try {
      return await this.log.ask(entries.map(questionOf));
    } catch (error) {
      if (!(error instanceof ItemsRejected)) throw error;
      // A command id that is no UUID fails alone, like an item that cannot be stored.
      if (entries.length > 1) await inHalves(entries, (half) => this.round(half));
      else for (const entry of entries) this.settle(entry, () => entry.reject(error));
      return null;
    }
  }

  /** One round of commands that stand or fall together: nobody is answered before it is known what became of all. */
  private async roundTogether(bond: readonly Waiting[]): Promise<void> {
    if (isSettled(bond)) return;
    const fail = (error: unknown) => {
      for (const entry of bond) this.settle(entry, () => entry.reject(error));
    };
    try {
      const { now, answers, continuity } = await this.log.ask(bond.map(questionOf));
      this.heardAt = now;
      // They were recorded in one append, so one that was recorded before stands for all.
      const repeated = answers.some((answer) => answer.repeated);
      const groups = await Promise.all(
        bond.map((entry, index) => {
          const answer = { ...(answers[index] as Answer), repeated };
          return this.decideGroup(answer.stream as string, [{ entry, answer }], now);
        }),
      );
      const refused = groups.flatMap(({ outcomes }) => outcomes).find((outcome) => 'refusal' in outcome);
      if (refused) return fail(refused.refusal);
      const writing = groups.filter(({ item }) => item !== null);
      if (writing.length === 0) return groups.forEach((group) => this.settleGroup(group, null, now));
      const items = writing.map(({ item }) => item as AppendItem);
      const trace = bond[0]?.trace ?? null;
      const { batch, recordedAt, outcomes } = await this.log.append(items, { trace, continuity, whole: true });
      const taken = outcomes.find((outcome) => typeof outcome === 'object');
      if (outcomes.every((outcome) => outcome === 'ok')) {
        for (const group of writing) this.remember(group, recordedAt);
        for (const group of groups) this.settleGroup(group, batch, recordedAt);
      } else if (taken) fail(new ClaimTaken(taken.claimTaken));
      else {
        for (const entry of bond) entry.conflicts += 1;
        if (bond.some(({ conflicts }) => conflicts > CONFLICTS_ALLOWED)) fail(unavailable());
        else this.bonds.unshift(bond);
      }
    } catch (error) {
      if (!(error instanceof ItemsRejected)) throw error;
      fail(error);
    }
  }

  private async append(groups: readonly Group[], continuity: number): Promise<void> {
    let result: AppendResult;
    const traced = this.traced(groups);
    const begun = performance.now();
    try {
      const items = groups.map((group) => group.item as AppendItem);
      result = await this.log.append(items, {
        trace: traced[0]?.append.trace ?? null,
        continuity,
      });
    } catch (error) {
      for (const { append } of traced) append.end(null);
      if (!(error instanceof ItemsRejected)) throw error;
      // One of them cannot be stored. The halves are sent again until it stands alone, and fails alone.
      if (groups.length > 1) await inHalves(groups, (half) => this.append(half, continuity));
      else this.settleAll(groups, (entry) => entry.reject(error));
      return;
    }
    const facts = groups.reduce(
      (sum, { item }, index) => sum + (result.outcomes[index] === 'ok' ? factsOf(item) : 0),
      0,
    );
    this.onAppend({ facts, ms: performance.now() - begun });
    const { batch, outcomes } = result;
    // What rests on known heads asks nobody for the time, and still must not fall behind it.
    this.heardAt = Math.max(this.heardAt, result.recordedAt);
    for (const { append, index } of traced)
      append.end(outcomes[index] === 'ok' && batch !== null ? { batch, facts } : null);
    for (const [index, group] of groups.entries()) {
      const outcome = outcomes[index];
      if (outcome === 'ok') {
        this.remember(group, result.recordedAt);
        this.settleGroup(group, batch, result.recordedAt);
      } else if (outcome === 'conflict') this.meetConflict(group);
      else if (outcome) this.loseClaim(group, outcome.claimTaken);
    }
  }

  /** The commands in an append that are followed; nearly always none. */
  private traced(groups: readonly Group[]): readonly { readonly append: TracedAppend; readonly index: number }[] {
    const traced: { append: TracedAppend; index: number }[] = [];
    for (const [index, group] of groups.entries()) {
      for (const outcome of group.outcomes) {
        const { trace } = outcome.entry;
        if (trace && 'appended' in outcome && outcome.appended) traced.push({ append: this.traceAppend(trace), index });
      }
    }
    return traced;
  }

  /** Nobody holds the key, so there is no stream to write to: the decider sees the initial state and must refuse. */
  private decideUnheld(entry: Waiting, now: Instant): void {
    this.settle(entry, () => {
      try {
        const facts = entry.decider.decide(entry.decider.initial(), entry.command, { now, lastCheckAt: null });
        const error = new Error(
          `${entry.command.type} on a key that nobody holds was accepted (${facts.length} facts)`,
        );
        entry.reject(error);
      } catch (refusal) {
        entry.reject(refusal);
      }
    });
  }

  private async decideGroup(stream: string, sharers: readonly Sharer[], now: Instant): Promise<Group> {
    const { entry, answer } = sharers[0] as Sharer;
    try {
      const base = await this.baseOf(stream, entry.decider, answer);
      return decideOn(base, stream, sharers, { now, relies: false });
    } catch (error) {
      if (!(error instanceof FoldFailed)) throw error;
      // Facts that the rules stumble over are the trouble of this stream and of no other.
      const outcomes = sharers.map((sharer) => ({ entry: sharer.entry, refusal: error }));
      return { stream, item: null, outcomes, relies: false, lastCheckAt: null };
    }
  }

  /** The state to decide on: the head, or, where the head is lost or was folded by other rules, the fold of the facts. */
  private async baseOf(stream: string, decider: AnyDecider, answer: Answer): Promise<Base> {
    const { head } = answer;
    if (head && head.fold === decider.fold)
      return { state: head.state, revision: head.revision, lastCheckAt: head.lastCheckAt, fresh: false };
    if (!head && !answer.lost) return { state: decider.initial(), revision: 0, lastCheckAt: null, fresh: true };
    const facts = await this.log.readStream(stream);
    try {
      return { ...foldOf(decider, facts), fresh: !head };
    } catch (cause) {
      throw new FoldFailed(`The facts of ${stream} cannot be folded`, { cause });
    }
  }

  private settleGroup(group: Group, batch: bigint | null, recordedAt: Instant): void {
    const checked = (group.item?.checkIns.length ?? 0) > 0;
    const lastCheckAt = checked ? recordedAt : group.lastCheckAt;
    for (const outcome of group.outcomes) {
      const { entry } = outcome;
      this.settle(entry, () => {
        if ('refusal' in outcome) entry.reject(outcome.refusal);
        else {
          const { state, revision, appended } = outcome;
          const stream = group.stream;
          const recorded = { repeated: !appended, batch: appended ? batch : null, recordedAt };
          entry.resolve({ stream, state, revision, lastCheckAt, ...recorded });
        }
      });
    }
  }

  private settleAll(groups: readonly Group[], how: (entry: Waiting) => void): void {
    for (const group of groups) for (const { entry } of group.outcomes) this.settle(entry, () => how(entry));
  }

  private settle(entry: Waiting, how: () => void): void {
    if (entry.settled) return;
    entry.settled = true;
    how();
  }

  /** What was just written is known, for commands that may rest on it. */
  private remember({ stream, item, outcomes, lastCheckAt }: Group, recordedAt: Instant): void {
    // A head that was made anew took the time of its last check from the record.
    if (!item || item.fresh) return;
    if (!this.known.has(stream) && !outcomes.some(({ entry }) => entry.options.onKnownHead)) return;
    const { revision, fold, state, checkIns } = item;
    this.known.wrote(stream, { revision, fold, state, lastCheckAt: checkIns.length > 0 ? recordedAt : lastCheckAt });
  }

  private meetConflict({ stream, outcomes, relies }: Group): void {
    const entries = outcomes.map(({ entry }) => entry);
    if (!relies) return this.decideAgain(entries);
    // Nobody was quicker: what was known here was old. That is no conflict of the caller's.
    this.known.disappoint(stream);
    this.again(entries);
  }

  private decideAgain(entries: readonly Waiting[]): void {
    for (const entry of entries) {
      entry.conflicts += 1;
      if (entry.conflicts > CONFLICTS_ALLOWED) this.settle(entry, () => entry.reject(unavailable()));
    }
    this.again(entries);
  }

  private again(entries: readonly Waiting[]): void {
    const known = new Set(this.waiting);
    this.waiting.unshift(...entries.filter((entry) => !entry.settled && !known.has(entry)));
  }

  private loseClaim(group: Group, key: string): void {
    const entries = group.outcomes.map(({ entry }) => entry);
    // Alone on its stream, the loser is known. With others, each is decided again by itself.
    if (entries.length === 1) this.settleAll([group], (entry) => entry.reject(new ClaimTaken(key)));
    else {
      for (const entry of entries) entry.conflicts = Math.max(entry.conflicts, 1);
      this.again(entries);
    }
  }
}

/** Decides the commands of one stream, one on the other's result. */
const decideOn = (
  base: Base,
  stream: string,
  sharers: readonly Sharer[],
  { now, relies }: { readonly now: Instant; readonly relies: boolean },
): Group => {
  const { decider } = (sharers[0] as Sharer).entry;
  let { state, revision } = base;
  let text = '';
  const moment: Moment = { now, lastCheckAt: base.lastCheckAt };
  const events: NewEvent[] = [];
  const checkIns: NewCheckIn[] = [];
  const claims = new Map<string, AppendItem['claims'][number]>();
  const outcomes: Outcome[] = [];
  const written = new Set<string>();
  for (const [index, { entry, answer }] of sharers.entries()) {
    // Recorded before, or carried out by its twin in this very round.
    if (answer.repeated || written.has(entry.commandId)) {
      outcomes.push({ entry, state, revision, appended: false });
      continue;
    }
    try {
      const facts = entry.decider.decide(state, entry.command, moment);
      refuseActor(entry, facts);
      const decided = write(entry, facts, revision);
      const next = decided.facts.reduce(entry.decider.evolve, state);
      const stored = storable(next, `the state of ${stream}`);
      const changes = decided.facts.flatMap((fact) => entry.decider.claims?.(fact) ?? []);
      // Nothing below can fail: a command leaves all of its traces on the group, or none.
      text = stored;
      // The next one decides on what would come back from the record.
      state = index + 1 < sharers.length ? (JSON.parse(stored) as Json) : next;
      for (const claim of changes) claims.set(claim.key, claim);
      if (decided.facts.length > 0) written.add(entry.commandId);
      events.push(...decided.events);
      checkIns.push(...decided.checkIns);
      revision += decided.facts.length;
      outcomes.push({ entry, state, revision, appended: decided.facts.length > 0 });
    } catch (refusal) {
      outcomes.push({ entry, refusal });
    }
  }
  const { lastCheckAt } = base;
  if (revision === base.revision) return { stream, item: null, outcomes, relies, lastCheckAt };
  const item = {
    stream,
    expected: base.revision,
    fresh: base.fresh,
    revision,
    fold: decider.fold,
    state: text,
    events,
    checkIns,
    claims: [...claims.values()],
  };
  return { stream, item, outcomes, relies, lastCheckAt };
};

/** Whoever asked for them has an answer, be it that time was up. */
const isSettled = (bond: readonly Waiting[]): boolean => bond.every(({ settled }) => settled);

/**
 * What only a person brings about is refused to everybody else, whichever decider it comes from (O3). A route that forgot to ask gets no
 * further than this.
 */
const refuseActor = ({ options: { actor } }: Waiting, facts: readonly Typed[]): void => {
  if (!facts.every(({ type }) => mayRecord(actor.kind, type))) throw new Refusal('actor-refused');
};

const factsOf = (item: AppendItem | null): number => (item ? item.events.length + item.checkIns.length : 0);

type Base = {
  readonly state: unknown;
  readonly revision: number;
  readonly lastCheckAt: Instant | null;
  readonly fresh: boolean;
};

const inHalves = async <Item>(
  items: readonly Item[],
  send: (half: readonly Item[]) => Promise<void>,
): Promise<void> => {
  const middle = Math.ceil(items.length / 2);
  await send(items.slice(0, middle));
  await send(items.slice(middle));
};

const questionOf = ({ target, options, commandId }: Waiting): Question => ({
  stream: 'stream' in target ? target.stream : null,
  key: 'claim' in target ? target.claim : null,
  commandId: options.commandId === null ? null : commandId,
});

/** Folds a stream's facts. What a decider does not know it leaves as it is. */
export const foldOf = <State, Fact extends Typed>(
  decider: Decider<State, Typed, Fact>,
  facts: readonly RecordedFact[],
) => {
  let state = decider.initial();
  let lastCheckAt: Instant | null = null;
  for (const recorded of facts) {
    if (recorded.kind === 'check-in') lastCheckAt = recorded.recordedAt;
    state = decider.evolve(state, (recorded.kind === 'check-in' ? recorded.checkIn : recorded.event) as Typed as Fact);
  }
  return { state, revision: facts.at(-1)?.revision ?? 0, lastCheckAt };
};

/** Gives the facts of a decision their places and bytes. @throws Unstorable before anything is sent. */
const write = (entry: Waiting, facts: readonly Typed[], after: number) => {
  const events: NewEvent[] = [];
  const checkIns: NewCheckIn[] = [];
  for (const [index, fact] of facts.entries()) {
    const revision = after + 1 + index;
    if (isCheckIn(fact)) {
      refuseUnstorable(fact, fact.type);
      checkIns.push({ revision, checkIn: fact });
    } else {
      events.push({
        revision,
        commandId: entry.commandId,
        ordinal: index,
        eventId: randomUUID(),
        type: fact.type,
        actor: entry.options.actor,
        body: bodyOf(fact),
        trace: entry.trace,
      });
    }
  }
  return { facts, events, checkIns };
};

const isCheckIn = (fact: Typed): fact is CheckedIn => fact.type === 'CheckedIn';

const unavailable = (): Refusal => new Refusal('unavailable', { retryAfter: RETRY_AFTER_SECONDS });

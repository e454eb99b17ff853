import type { Decider, Instant, Typed } from '@rollcall/decider';
import DataLoader from 'dataloader';
import {
  EventStore,
  type Batch,
  type ClaimHolder,
  type DecideOptions,
  type Decision,
  type Decisions,
  type Part,
  type RecordedEvent,
  type RecordedFact,
  type RecordedGap,
  type RecordHead,
  type StreamPast,
  type StreamPlace,
  type StreamView,
  type Target,
  type WantedGaps,
  type WantedPast,
} from './event-store.js';
import { foldOf, GroupCommit, type GroupCommitOptions } from './group-commit.js';
import type { RecordLog } from './record-log.js';

const MOST_KEYS = 1_000;

/** The event store over any log: decisions go through the group commit, reads go straight to the log. */
export class LogBackedStore extends EventStore {
  private readonly commit: GroupCommit;
  private closing: Promise<void> | null = null;
  /** Those who ask at the same time share a question: a fleet that comes back is thousands of credentials that this instance has never seen. */
  private readonly holders: DataLoader<string, ClaimHolder | null>;

  constructor(
    protected readonly log: RecordLog,
    options: GroupCommitOptions = {},
  ) {
    super();
    this.commit = new GroupCommit(log, options);
    this.holders = new DataLoader((keys) => log.holders(keys), {
      cache: false,
      maxBatchSize: MOST_KEYS,
      batchScheduleFn: (ask) => void setImmediate(ask),
    });
  }

  override decide<State, Command extends Typed, Fact extends Typed>(
    decider: Decider<State, Command, Fact>,
    target: Target,
    command: Command,
    options: DecideOptions,
  ): Promise<Decision<State>> {
    return this.commit.decide(decider, target, command, options);
  }

  override decideTogether<const Parts extends readonly Part[]>(
    parts: Parts,
    options: Pick<DecideOptions, 'actor' | 'trace'> & { readonly commandId: string },
  ): Promise<Decisions<Parts>> {
    return this.commit.decideTogether(parts, options) as Promise<readonly unknown[]> as Promise<Decisions<Parts>>;
  }

  /** Decisions that wait for an append or are in one. */
  queued(): number {
    return this.commit.queued();
  }

  override async view<State, Command extends Typed, Fact extends Typed>(
    decider: Decider<State, Command, Fact>,
    target: Target,
  ): Promise<StreamView<State> | null> {
    const question = 'stream' in target ? { stream: target.stream, key: null } : { stream: null, key: target.claim };
    const { stream, head, lost } = await this.log.look({ ...question, commandId: null });
    if (stream === null) return null;
    if (head && head.fold === decider.fold) {
      return { stream, state: head.state as State, revision: head.revision, lastCheckAt: head.lastCheckAt };
    }
    if (!head && !lost) return null;
    const facts = await this.log.readStream(stream);
    return { stream, ...foldOf(decider as unknown as Decider<State, Typed, Fact>, facts) };
  }

  override holder(key: string): Promise<ClaimHolder | null> {
    return this.holders.load(key);
  }

  override readBatches(after: bigint, limit: number): Promise<readonly Batch[]> {
    return this.log.readBatches(after, limit);
  }

  override readStream(stream: string): Promise<readonly RecordedFact[]> {
    return this.log.readStream(stream);
  }

  override readStreamAfter(stream: string, place: StreamPlace, limit: number): Promise<readonly RecordedFact[]> {
    return this.log.readStreamAfter(stream, place, limit);
  }

  override readPast(stream: string, until: Instant, wanted?: WantedPast): Promise<StreamPast> {
    return this.log.readPast(stream, until, wanted);
  }

  override admissionsBy(person: string, after: Instant): Promise<readonly RecordedEvent[]> {
    return this.log.admissionsBy(person, after);
  }

  override readGaps(wanted: WantedGaps, limit: number): Promise<readonly RecordedGap[]> {
    return this.log.readGaps(wanted, limit);
  }

  override newest(): Promise<RecordHead> {
    return this.log.newest();
  }

  override epoch(): Promise<string> {
    return this.log.epoch();
  }

  override onAppended(listener: () => void): () => void {
    return this.log.onAppended(listener);
  }

  override mark(idleMs: number): Promise<boolean> {
    return this.log.mark(idleMs);
  }

  override close(): Promise<void> {
    this.closing ??= this.commit.close().then(() => this.log.close());
    return this.closing;
  }
}

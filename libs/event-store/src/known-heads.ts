import type { Instant, Json } from '@rollcall/decider';
import { LRUCache } from 'lru-cache';
import type { Head } from './record-log.js';

/** What an instance last saw of a stream, by reading its head or by writing it. */
type KnownHead = {
  readonly revision: number;
  readonly fold: number;
  readonly lastCheckAt: Instant | null;
  /** JSON; parsed for each decision, so that no decision can reach into what another one was given. */
  readonly state: string;
  /** How often in a row the record still showed what was known here. */
  readonly confirmed: number;
  /** How often it has to, before it is relied on. */
  readonly needed: number;
};

/** After a disappointment the record is asked this many times as often, up to the most. */
const PATIENCE = 4;
const MOST_PATIENCE = 64;

/**
 * The heads of the streams that this instance writes to. Whoever decides on one saves a question to the record, and must not believe what
 * comes of it before an append has compared the revision: it may be old (ADR 12). A machine keeps its connection, so its checks usually
 * meet the same instance; one whose checks wander between instances is soon not relied on any more.
 */
export class KnownHeads {
  private readonly heads: LRUCache<string, KnownHead>;
  /** That of the record when these heads were learned. */
  continuity = 0;

  /** @param most heads; the longest unused one gives way. One takes about a kilobyte. */
  constructor(most: number) {
    this.heads = new LRUCache({ max: most });
  }

  /** The head to rely on; null where there is none that these rules have folded. */
  reliable(stream: string, byFold: number): Head | null {
    const known = this.heads.get(stream);
    if (!known || known.fold !== byFold || known.confirmed < known.needed) return null;
    const { revision, fold, lastCheckAt, state } = known;
    return { revision, fold, lastCheckAt, state: JSON.parse(state) as Json };
  }

  has(stream: string): boolean {
    return this.heads.has(stream);
  }

  /** The record was asked, and has this revision. */
  compare(stream: string, revision: number): void {
    const known = this.heads.get(stream);
    if (!known) return;
    if (known.revision === revision) this.heads.set(stream, { ...known, confirmed: known.confirmed + 1 });
    else this.heads.set(stream, { ...known, confirmed: 0 });
  }

  /** What was known was relied on, and was old. */
  disappoint(stream: string): void {
    const known = this.heads.get(stream);
    if (known)
      this.heads.set(stream, { ...known, confirmed: 0, needed: Math.min(MOST_PATIENCE, known.needed * PATIENCE) });
  }

  /** This instance has just written this head. */
  wrote(stream: string, head: Omit<KnownHead, 'confirmed' | 'needed'>): void {
    const { confirmed = 0, needed = 1 } = this.heads.get(stream) ?? {};
    this.heads.set(stream, { ...head, confirmed, needed });
  }

  /** Nobody knows what became of an append. */
  forgetAll(): void {
    this.heads.clear();
  }

  /** What is known is known of the record behind one connection. */
  onContinuity(continuity: number): void {
    if (continuity === this.continuity) return;
    this.continuity = continuity;
    this.forgetAll();
  }
}

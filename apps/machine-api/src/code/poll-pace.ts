import { Injectable } from '@nestjs/common';
import { LRUCache } from 'lru-cache';

/** Seconds between two questions about a code (RFC 8628): at first, added for good by each that comes too soon, and at most. */
export const POLL = { interval: 5, step: 5, most: 60 } as const;
/** Somebody's clock runs a little fast, and answers travel for different times. */
const LENIENCE_MS = 500;

type Pace = { readonly asked: number; readonly interval: number };

/** How soon the questions about a code come, as this instance sees them. */
@Injectable()
export class PollPace {
  private readonly paces = new LRUCache<string, Pace>({ max: 2_000 });

  /** Whether the question comes too soon; the interval of its code grows then. `now` in milliseconds of any one clock. */
  isTooFast(codeId: string, now: number = performance.now()): boolean {
    const { asked, interval } = this.paces.get(codeId) ?? { asked: -Infinity, interval: POLL.interval };
    const tooFast = now - asked < interval * 1_000 - LENIENCE_MS;
    this.paces.set(codeId, { asked: now, interval: tooFast ? Math.min(POLL.most, interval + POLL.step) : interval });
    return tooFast;
  }
}

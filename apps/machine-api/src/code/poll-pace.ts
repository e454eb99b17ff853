import { Injectable } from '@nestjs/common';
import { afterQuestion, type Pace } from '@rollcall/admission';
import { LRUCache } from 'lru-cache';

/** How soon the questions about a code come, as this instance sees them. */
@Injectable()
export class PollPace {
  private readonly paces = new LRUCache<string, Pace>({ max: 2_000 });

  /** Whether the question comes too soon; the interval of its code grows then. `now` in milliseconds of any one clock. */
  isTooFast(codeId: string, now: number = performance.now()): boolean {
    const { pace, isTooFast } = afterQuestion(this.paces.get(codeId) ?? null, now);
    this.paces.set(codeId, pace);
    return isTooFast;
  }
}

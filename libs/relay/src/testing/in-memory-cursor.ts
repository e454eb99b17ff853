import type { FeedPlace } from '@rollcall/feed';
import { RelayCursor } from '../cursor.js';

/** The fake of the `RelayCursor` port. */
export class InMemoryRelayCursor extends RelayCursor {
  constructor(public place: FeedPlace | null = null) {
    super();
  }

  override read(): Promise<FeedPlace | null> {
    return Promise.resolve(this.place);
  }

  override move(from: FeedPlace | null, to: FeedPlace): Promise<boolean> {
    const isThere = from === null ? this.place === null : isSame(from, this.place);
    if (isThere) this.place = to;
    return Promise.resolve(isThere);
  }
}

const isSame = (from: FeedPlace, place: FeedPlace | null): boolean =>
  place !== null && from.epoch === place.epoch && from.number === place.number;

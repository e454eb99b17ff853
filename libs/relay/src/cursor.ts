import type { FeedPlace } from '@rollcall/feed';

/** How far the relay has published: everything up to that batch was acknowledged. */
export abstract class RelayCursor {
  /** Null where nothing was ever published. Rejects while it cannot be read. */
  abstract read(): Promise<FeedPlace | null>;

  /**
   * Moves it, unless it is not at `from` any more.
   *
   * @returns false when another relay was faster
   * @throws Error when the outcome is not known
   */
  abstract move(from: FeedPlace | null, to: FeedPlace): Promise<boolean>;
}

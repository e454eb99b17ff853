import type { OnApplicationBootstrap, OnModuleDestroy } from '@nestjs/common';
import type { Feed, FeedStatus } from '@rollcall/feed';
import type { Leadership, LeadershipStatus } from '@rollcall/leadership';
import { Lifetime } from '@rollcall/lifetimes';
import type { Relay, RelayStatus } from '@rollcall/relay';

/** How the feed is, and how the relay is getting on, as this instance sees it. */
export type RelayingStatus = {
  readonly feed: FeedStatus;
  readonly leadership: LeadershipStatus;
  readonly relay: RelayStatus;
};

const LED = 'relay';

/** Owns the relay's loop, from the app's start to its end; one instance of many leads it. Without a feed there is nothing to do. */
export class Relaying implements OnApplicationBootstrap, OnModuleDestroy {
  readonly #loops = new Lifetime();

  constructor(
    private readonly parts: { readonly feed: Feed; readonly relay: Relay } | null,
    private readonly leadership: Leadership,
  ) {}

  onApplicationBootstrap(): void {
    const { parts, leadership } = this;
    if (parts === null) return;
    this.#loops.run((signal) => leadership.whileLeading(LED, (leading) => parts.relay.run(leading), signal));
  }

  /** Resolves when what is being published is confirmed or given up. */
  async onModuleDestroy(): Promise<void> {
    await this.#loops.end();
  }

  /** null where no feed is configured. */
  status(): RelayingStatus | null {
    if (this.parts === null) return null;
    const { feed, relay } = this.parts;
    return { feed: feed.status(), leadership: this.leadership.status(LED), relay: relay.status() };
  }
}

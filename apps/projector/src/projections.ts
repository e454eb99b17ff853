import type { OnApplicationBootstrap, OnModuleDestroy } from '@nestjs/common';
import type { Leadership, LeadershipStatus } from '@rollcall/leadership';
import { Lifetime } from '@rollcall/lifetimes';
import type { Follower, FollowStatus } from '@rollcall/read-models';

/** How a read model is kept, as this instance sees it. */
export type ProjectionStatus = FollowStatus & { readonly leadership: LeadershipStatus };

/** Owns the loops of the read models, from the app's start to its end. Each is led by one instance of many. */
export class Projections implements OnApplicationBootstrap, OnModuleDestroy {
  readonly #loops = new Lifetime();

  constructor(
    private readonly followers: readonly Follower[],
    private readonly leadership: Leadership,
  ) {}

  onApplicationBootstrap(): void {
    for (const follower of this.followers) {
      this.#loops.run((signal) =>
        this.leadership.whileLeading(led(follower), (leading) => follower.run(leading), signal),
      );
    }
  }

  /** Resolves when each loop has ended its last transaction. */
  async onModuleDestroy(): Promise<void> {
    await this.#loops.end();
  }

  status(): readonly ProjectionStatus[] {
    return this.followers.map((follower) => ({
      ...follower.status(),
      leadership: this.leadership.status(led(follower)),
    }));
  }
}

const led = (follower: Follower): string => `read model ${follower.status().name}`;

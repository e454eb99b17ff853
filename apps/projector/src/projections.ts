import { Lifetime } from '@rollcall/lifetimes';
import type { OnApplicationBootstrap, OnModuleDestroy } from '@nestjs/common';
import type { Follower, FollowStatus } from '@rollcall/read-models';

/** Owns the loops: one per read model, from the app's start to its end. */
export class Projections implements OnApplicationBootstrap, OnModuleDestroy {
  readonly #loops = new Lifetime();

  constructor(private readonly followers: readonly Follower[]) {}

  onApplicationBootstrap(): void {
    for (const follower of this.followers) this.#loops.run((signal) => follower.run(signal));
  }

  /** Resolves when each loop has ended its last transaction. */
  async onModuleDestroy(): Promise<void> {
    await this.#loops.end();
  }

  status(): readonly FollowStatus[] {
    return this.followers.map((follower) => follower.status());
  }
}

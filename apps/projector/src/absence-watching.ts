import type { OnApplicationBootstrap, OnModuleDestroy } from '@nestjs/common';
import type { Leadership, LeadershipStatus } from '@rollcall/leadership';
import { Lifetime } from '@rollcall/lifetimes';
import type { AbsenceWatch, WatchStatus } from '@rollcall/read-models';

/** How absences are watched for, as this instance sees it. */
export type WatchingStatus = WatchStatus & { readonly leadership: LeadershipStatus };

const LED = 'absence watch';

/** Owns the loop that records absences, from the app's start to its end. One instance of many leads it, which saves looking twice. */
export class AbsenceWatching implements OnApplicationBootstrap, OnModuleDestroy {
  readonly #loops = new Lifetime();

  constructor(
    private readonly watch: AbsenceWatch,
    private readonly leadership: Leadership,
  ) {}

  onApplicationBootstrap(): void {
    this.#loops.run((signal) => this.leadership.whileLeading(LED, (leading) => this.watch.run(leading), signal));
  }

  /** Resolves when the sweep that has begun is over. */
  async onModuleDestroy(): Promise<void> {
    await this.#loops.end();
  }

  status(): WatchingStatus {
    return { ...this.watch.status(), leadership: this.leadership.status(LED) };
  }
}

import type { OnApplicationBootstrap, OnModuleDestroy } from '@nestjs/common';
import type { Leadership, LeadershipStatus } from '@rollcall/leadership';
import { Lifetime } from '@rollcall/lifetimes';
import type { FollowStatus, RecordFollower } from '@rollcall/read-models';
import type { EndpointNotices, NoticePlace } from '@rollcall/webhooks';

/** How the record is looked through for what webhooks are told, as this instance sees it. */
export type NoticingStatus = FollowStatus<NoticePlace> & {
  readonly leadership: LeadershipStatus;
  /** Events since the start of which nobody was told, because the database refused what was to be told. */
  readonly skipped: number;
};

const LED = 'webhooks';

/** Owns the loop that looks for notices, from the app's start to its end. One instance of many leads it; two do no harm. */
export class Noticing implements OnApplicationBootstrap, OnModuleDestroy {
  readonly #loops = new Lifetime();

  constructor(
    private readonly notices: Pick<EndpointNotices, 'skipped'>,
    private readonly follower: RecordFollower<NoticePlace>,
    private readonly leadership: Leadership,
  ) {}

  onApplicationBootstrap(): void {
    this.#loops.run((signal) => this.leadership.whileLeading(LED, (leading) => this.follower.run(leading), signal));
  }

  /** Resolves when the loop has ended its last transaction. */
  async onModuleDestroy(): Promise<void> {
    await this.#loops.end();
  }

  status(): NoticingStatus {
    return { ...this.follower.status(), leadership: this.leadership.status(LED), skipped: this.notices.skipped };
  }
}

import { Controller, Get, Inject, ServiceUnavailableException } from '@nestjs/common';
import { AbsenceWatching, type WatchingStatus } from '../absence-watching.js';
import { Delivering } from '../delivering.js';
import { Noticing } from '../noticing.js';
import { Projections, type ProjectionStatus } from '../projections.js';
import { Relaying, type RelayingStatus } from '../relaying.js';

/** `following` the record, `waiting` because another instance does, or neither. */
type Following = 'following' | 'waiting' | 'not following';
type ReadModelHealth = {
  readonly name: string;
  readonly state: Following;
  readonly checkpoint: string | null;
};
type FeedHealth = {
  readonly connected: boolean;
  readonly problem: string | null;
  readonly relay: 'relaying' | 'waiting' | 'not relaying';
  /** Batches that are recorded and not yet published; null where this instance does not relay. */
  readonly lag: string | null;
};
type WebhooksHealth = {
  /** Looking through the record for what they are told. */
  readonly state: Following;
  /** Why this instance delivers nothing for now; null when all is well. */
  readonly problem: string | null;
};
type WatchHealth = {
  readonly state: 'watching' | 'waiting' | 'not watching';
  /** Why absences are not recorded, be it that of one machine; null when all is well. */
  readonly problem: string | null;
};
type Health = {
  /**
   * `degraded`: the feed is away or not as it must be (read models follow the record itself, some seconds late), nobody finds out what webhooks
   * are told, or absences are not recorded.
   */
  readonly status: 'ready' | 'degraded' | 'not ready';
  readonly readModels: readonly ReadModelHealth[];
  /** null where none is configured. */
  readonly feed: FeedHealth | null;
  readonly webhooks: WebhooksHealth;
  readonly absences: WatchHealth;
};

/** For a service manager or a load balancer, on the loopback only. */
@Controller()
export class HealthController {
  constructor(
    @Inject(Projections) private readonly projections: Projections,
    @Inject(Relaying) private readonly relaying: Relaying,
    @Inject(Noticing) private readonly noticing: Noticing,
    @Inject(Delivering) private readonly delivering: Delivering,
    @Inject(AbsenceWatching) private readonly watching: AbsenceWatching,
  ) {}

  /** The process answers. */
  @Get('healthz')
  live(): { status: 'live' } {
    return { status: 'live' };
  }

  /**
   * Every read model follows the record, here or in another instance; 503 while one cannot. A feed that is away makes it `degraded`, and not
   * less able; so do a record that cannot be looked through for what webhooks are told, and absences that cannot be recorded. That deliveries wait for a key changes nothing. How
   * far a read model lags is told by the read model, not here.
   */
  @Get('readyz')
  ready(): Health {
    const readModels = this.projections.status().map(readModelHealth);
    const relaying = this.relaying.status();
    const feed = relaying && feedHealth(relaying);
    const webhooks = { state: followingOf(this.noticing.status()), problem: this.delivering.status().problem };
    const absences = watchHealth(this.watching.status());
    const parts = { readModels, feed, webhooks, absences };
    if (readModels.some(({ state }) => state === 'not following'))
      throw new ServiceUnavailableException({ status: 'not ready', ...parts } satisfies Health);
    const isFed = feed === null || (feed.connected && feed.problem === null && feed.relay !== 'not relaying');
    const isWatched = absences.state !== 'not watching' && absences.problem === null;
    const isWell = isFed && webhooks.state !== 'not following' && isWatched;
    return { status: isWell ? 'ready' : 'degraded', ...parts };
  }
}

type Follows = Pick<ProjectionStatus, 'leadership' | 'failure'> & { readonly place: object | null };

const followingOf = ({ leadership, place, failure }: Follows): Following => {
  if (leadership === 'waiting') return 'waiting';
  return leadership === 'leading' && place !== null && failure === null ? 'following' : 'not following';
};

const readModelHealth = (status: ProjectionStatus): ReadModelHealth => {
  const state = followingOf(status);
  const checkpoint = state === 'waiting' ? null : (status.place?.checkpoint.toString() ?? null);
  return { name: status.name, state, checkpoint };
};

const watchHealth = ({ leadership, failure: problem }: WatchingStatus): WatchHealth => {
  if (leadership === 'waiting') return { state: 'waiting', problem: null };
  return { state: leadership === 'leading' ? 'watching' : 'not watching', problem };
};

const feedHealth = ({ feed, leadership, relay }: RelayingStatus): FeedHealth => {
  const isRelaying = leadership === 'leading' && relay.failure === null;
  return {
    connected: feed.connected,
    problem: feed.problem ?? relay.failure,
    relay: leadership === 'waiting' ? 'waiting' : isRelaying ? 'relaying' : 'not relaying',
    lag: leadership === 'leading' ? (relay.lag?.toString() ?? null) : null,
  };
};

import { Controller, Get, Inject, ServiceUnavailableException } from '@nestjs/common';
import { Delivering } from '../delivering.js';
import { Projections, type ProjectionStatus } from '../projections.js';
import { Relaying, type RelayingStatus } from '../relaying.js';

type ReadModelHealth = {
  readonly name: string;
  /** `following` the record, `waiting` because another instance does, or neither. */
  readonly state: 'following' | 'waiting' | 'not following';
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
  /** Why this instance delivers nothing for now; null when all is well. */
  readonly problem: string | null;
};
type Health = {
  /** `degraded`: the feed is away or not as it must be; read models follow the record itself, some seconds late. */
  readonly status: 'ready' | 'degraded' | 'not ready';
  readonly readModels: readonly ReadModelHealth[];
  /** null where none is configured. */
  readonly feed: FeedHealth | null;
  readonly webhooks: WebhooksHealth;
};

/** For a service manager or a load balancer, on the loopback only. */
@Controller()
export class HealthController {
  constructor(
    @Inject(Projections) private readonly projections: Projections,
    @Inject(Relaying) private readonly relaying: Relaying,
    @Inject(Delivering) private readonly delivering: Delivering,
  ) {}

  /** The process answers. */
  @Get('healthz')
  live(): { status: 'live' } {
    return { status: 'live' };
  }

  /**
   * Every read model follows the record, here or in another instance; 503 while one cannot. A feed that is away makes it `degraded`, and not
   * less able; webhooks that wait are told, and change nothing. How far a read model lags is told by the read model, not here.
   */
  @Get('readyz')
  ready(): Health {
    const readModels = this.projections.status().map(readModelHealth);
    const relaying = this.relaying.status();
    const feed = relaying && feedHealth(relaying);
    const webhooks = { problem: this.delivering.status().problem };
    if (readModels.some(({ state }) => state === 'not following'))
      throw new ServiceUnavailableException({ status: 'not ready', readModels, feed, webhooks } satisfies Health);
    const isWell = feed === null || (feed.connected && feed.problem === null && feed.relay !== 'not relaying');
    return { status: isWell ? 'ready' : 'degraded', readModels, feed, webhooks };
  }
}

const readModelHealth = ({ name, leadership, place, failure }: ProjectionStatus): ReadModelHealth => {
  if (leadership === 'waiting') return { name, state: 'waiting', checkpoint: null };
  const isFollowing = leadership === 'leading' && place !== null && failure === null;
  return {
    name,
    state: isFollowing ? 'following' : 'not following',
    checkpoint: place?.checkpoint.toString() ?? null,
  };
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

import { Controller, Get, Inject, ServiceUnavailableException } from '@nestjs/common';
import { Projections } from '../projections.js';

type ReadModelHealth = { readonly name: string; readonly following: boolean; readonly checkpoint: string | null };

/** For a service manager or a load balancer, on the loopback only. */
@Controller()
export class HealthController {
  constructor(@Inject(Projections) private readonly projections: Projections) {}

  /** The process answers. */
  @Get('healthz')
  live(): { status: 'live' } {
    return { status: 'live' };
  }

  /** Every read model follows the record; 503 while one cannot. How far it lags is told by the read model, not here. */
  @Get('readyz')
  ready(): { status: 'ready'; readModels: readonly ReadModelHealth[] } {
    const readModels = this.projections.status().map(({ name, place, failure }) => ({
      name,
      following: place !== null && failure === null,
      checkpoint: place?.checkpoint.toString() ?? null,
    }));
    if (readModels.some(({ following }) => !following)) {
      throw new ServiceUnavailableException({ status: 'not ready', readModels });
    }
    return { status: 'ready', readModels };
  }
}

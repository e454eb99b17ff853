import { Module, type DynamicModule } from '@nestjs/common';
import { PostgresEventStore } from '@rollcall/event-store-postgres';
import type { Logger } from '@rollcall/nest-platform';
import { Follower, openReadModels, READ_MODELS } from '@rollcall/read-models';
import type { ProjectorConfig } from './config.js';
import { Connections } from './connections.js';
import { HealthController } from './http/health.controller.js';
import { Projections } from './projections.js';

/** The projector: it follows the record and keeps the read models. */
@Module({})
export class ProjectorModule {
  static register(config: ProjectorConfig, logger: Logger): DynamicModule {
    return {
      module: ProjectorModule,
      controllers: [HealthController],
      providers: [
        {
          provide: Connections,
          useFactory: async () => {
            const store = await PostgresEventStore.connect({
              connectionString: config.database.url,
              applicationName: 'rollcall projector',
              onTrouble: (error) => logger.warn({ err: error }, 'trouble with the record'),
            });
            const database = openReadModels({
              connectionString: config.database.url,
              // A loop uses one at a time.
              connections: READ_MODELS.length,
              onIdleError: (error) => logger.warn({ err: error }, 'a connection of the read models broke'),
            });
            return new Connections(store, database);
          },
        },
        {
          provide: Projections,
          inject: [Connections],
          useFactory: ({ store, database }: Connections) =>
            new Projections(
              READ_MODELS.map(
                (model) => new Follower({ database, store, model, log: logger, gapSeconds: config.gapSeconds }),
              ),
            ),
        },
      ],
    };
  }
}

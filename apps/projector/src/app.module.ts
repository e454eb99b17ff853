import { Module, type DynamicModule } from '@nestjs/common';
import { batchOfEvent, renewEpoch } from '@rollcall/event-store-postgres';
import { Leadership } from '@rollcall/leadership';
import type { Logger } from '@rollcall/nest-platform';
import {
  absenceModel,
  AbsenceWatch,
  Follower,
  READ_MODELS,
  RecordFollower,
  type FollowStep,
} from '@rollcall/read-models';
import { Relay, type RelayRecord, type RelayStep } from '@rollcall/relay';
import { measureWebhookAttempts, type Meter, type Traces } from '@rollcall/telemetry';
import { EndpointNotices, SystemResolver, WebhookWorker, type DeliveryStep } from '@rollcall/webhooks';
import { AbsenceWatching } from './absence-watching.js';
import type { ProjectorConfig } from './config.js';
import { Connections } from './connections.js';
import { Delivering } from './delivering.js';
import { HealthController } from './http/health.controller.js';
import { Noticing } from './noticing.js';
import { openConnections } from './open-connections.js';
import { Projections } from './projections.js';
import { Relaying } from './relaying.js';
import { openWebhookConnections, WebhookConnections } from './webhook-connections.js';

/** Is told each step of the loops: `relay`, `webhooks`, `deliveries`, or the name of a read model. Only tests listen, to end the process between two of them. */
export type Reached = (loop: string, step: RelayStep | FollowStep | DeliveryStep) => void;

/** What the projector is given, and does not close. */
export type ProjectorParts = {
  readonly logger: Logger;
  readonly meter: Meter;
  readonly traces: Traces;
  readonly reached?: Reached | undefined;
};

/** The projector: it relays what is recorded, and keeps the read models. */
@Module({})
export class ProjectorModule {
  static register(
    config: ProjectorConfig,
    { logger, meter, traces, reached = () => undefined }: ProjectorParts,
  ): DynamicModule {
    return {
      module: ProjectorModule,
      controllers: [HealthController],
      providers: [
        { provide: Connections, useFactory: () => openConnections(config, logger) },
        {
          provide: Leadership,
          useValue: new Leadership({
            connectionString: config.database.url,
            applicationName: 'rollcall projector',
            log: logger,
          }),
        },
        {
          provide: AbsenceWatch,
          inject: [Connections],
          useFactory: ({ store, database }: Connections) => new AbsenceWatch({ database, store, log: logger }),
        },
        {
          provide: AbsenceWatching,
          inject: [AbsenceWatch, Leadership],
          useFactory: (watch: AbsenceWatch, leadership: Leadership) => new AbsenceWatching(watch, leadership),
        },
        {
          provide: Projections,
          inject: [Connections, Leadership, AbsenceWatch],
          useFactory: ({ store, database, feed }: Connections, leadership: Leadership, watch: AbsenceWatch) =>
            new Projections(
              READ_MODELS.map(
                (model) =>
                  new Follower({
                    database,
                    store,
                    model,
                    feed,
                    log: logger,
                    gapSeconds: config.gapSeconds,
                    reached: (step) => {
                      if (model === absenceModel && step === 'committed') watch.ring();
                      reached(model.name, step);
                    },
                    trace: traces.projecting(model.name),
                  }),
              ),
              leadership,
            ),
        },
        { provide: WebhookConnections, useFactory: () => openWebhookConnections(config, logger) },
        {
          provide: Noticing,
          inject: [Connections, WebhookConnections, Leadership],
          useFactory: (
            { store, feed }: Connections,
            { database, queue }: WebhookConnections,
            leadership: Leadership,
          ) => {
            const followed = new EndpointNotices({ database, queue, log: logger });
            const follower = new RecordFollower({
              followed,
              store,
              feed,
              log: logger,
              reached: (step) => reached(followed.name, step),
              trace: traces.projecting(followed.name),
            });
            return new Noticing(followed, follower, leadership);
          },
        },
        {
          provide: Delivering,
          inject: [WebhookConnections],
          useFactory: ({ database, queue, secrets }: WebhookConnections) =>
            new Delivering(
              new WebhookWorker({
                database,
                queue,
                secrets,
                resolver: new SystemResolver(),
                allowed: config.webhooks.allowed,
                ca: config.webhooks.ca,
                log: logger,
                attempted: measureWebhookAttempts(meter),
                reached: (step) => reached('deliveries', step),
              }),
            ),
        },
        {
          provide: Relaying,
          inject: [Connections, Leadership],
          useFactory: ({ store, cursor, feed }: Connections, leadership: Leadership) => {
            const record: RelayRecord = {
              readBatches: (after, limit) => store.readBatches(after, limit),
              newest: () => store.newest(),
              epoch: () => store.epoch(),
              onAppended: (listener) => store.onAppended(listener),
              renewEpoch: () => renewEpoch(config.database.url),
              batchOfEvent: (position) => batchOfEvent(config.database.url, position),
            };
            const relaying = feed && {
              feed,
              relay: new Relay({
                record,
                feed,
                cursor,
                log: logger,
                reached: (step) => reached('relay', step),
                trace: traces.publishing,
              }),
            };
            return new Relaying(relaying, leadership);
          },
        },
      ],
    };
  }
}

import { Global, Module, type DynamicModule } from '@nestjs/common';
import { CqrsModule } from '@nestjs/cqrs';
import { FRESH_SECONDS } from '@rollcall/authorisation';
import { Attempts } from '@rollcall/attempts';
import { EventStore } from '@rollcall/event-store';
import { Clock, SystemClock } from '@rollcall/lifetimes';
import { LogTails } from '@rollcall/log-tails';
import { Authenticator, HealthModule, type ReadinessCheck } from '@rollcall/nest-platform';
import {
  ChangeQueries,
  ChangeWatch,
  HistoryQueries,
  ReplayQueries,
  MachineQueries,
  ReadinessQueries,
  ReadModelQueries,
  WhyQueries,
  type ReadModelDatabase,
} from '@rollcall/read-models';
import { IDLE_SECONDS } from '@rollcall/person';
import { WebhookQueries } from '@rollcall/webhooks';
import { AccountModule } from './account/account.module.js';
import { IdentityProvider } from './account/identity-provider.js';
import { CallerAuthenticator } from './access/caller-authenticator.js';
import { SessionUses } from './access/session-uses.js';
import { AutomationModule } from './automation/automation.module.js';
import { CodeModule } from './code/code.module.js';
import { EnrolmentModule } from './enrolment/enrolment.module.js';
import { MachineApiLocation } from './enrolment/machine-api-location.js';
import { LoginModule } from './login/login.module.js';
import { MachineModule } from './machine/machine.module.js';
import { PageFiles } from './page/page-files.js';
import { PageModule } from './page/page.module.js';
import { PeopleModule } from './people/people.module.js';
import { PresenceModule } from './presence/presence.module.js';
import { PromiseModule } from './promise/promise.module.js';
import { ReadModelModule } from './read-model/read-model.module.js';
import { SessionModule } from './session/session.module.js';
import { WebhookAccess } from './webhook/webhook-access.js';
import { WebhookModule } from './webhook/webhook.module.js';
import { WorkspaceModule } from './workspace/workspace.module.js';

/** What the app stands on. Whoever made these ends them. */
export type OperatorApiFoundation = {
  readonly store: EventStore;
  readonly readModels: ReadModelDatabase;
  readonly tails: LogTails;
  readonly attempts: Attempts;
  readonly machineApi: MachineApiLocation;
  readonly webhooks: WebhookAccess;
  /** For how many seconds a session is fresh. (Default: 900) */
  readonly freshSeconds?: number;
  /** For how many seconds nobody may use a session in a browser before it is over. (Default: 1,800) */
  readonly idleSeconds?: number;
  /** As the followers of the record were told it. (Default: 15) */
  readonly gapSeconds?: number;
  /** (Default: none, and people sign in with links) */
  readonly provider?: IdentityProvider;
  /** (Default: none, as of a plane that was built without its web page) */
  readonly page?: PageFiles;
  readonly readiness: readonly ReadinessCheck[];
};

@Global()
@Module({})
class FoundationModule {
  static on(foundation: () => OperatorApiFoundation): DynamicModule {
    const { provided, tokens } = providers(foundation);
    return {
      module: FoundationModule,
      providers: [
        ...provided,
        {
          provide: SessionUses,
          useFactory: (attempts: Attempts, clock: Clock) =>
            new SessionUses(attempts, clock, foundation().idleSeconds ?? IDLE_SECONDS),
          inject: [Attempts, Clock],
        },
        {
          provide: Authenticator,
          useFactory: (store: EventStore, clock: Clock, uses: SessionUses) =>
            new CallerAuthenticator(store, clock, foundation().freshSeconds ?? FRESH_SECONDS, uses),
          inject: [EventStore, Clock, SessionUses],
        },
      ],
      exports: [...tokens, Authenticator, SessionUses],
    };
  }
}

const providers = (foundation: () => OperatorApiFoundation) => {
  const provided = [
    { provide: EventStore, useFactory: () => foundation().store },
    { provide: MachineQueries, useFactory: () => new MachineQueries(foundation().readModels, foundation().store) },
    { provide: ChangeQueries, useFactory: () => new ChangeQueries(foundation().readModels, foundation().store) },
    { provide: ChangeWatch, useFactory: () => new ChangeWatch(foundation().readModels, foundation().store) },
    { provide: ReplayQueries, useFactory: () => new ReplayQueries(foundation().store, foundation().gapSeconds) },
    { provide: HistoryQueries, useFactory: () => new HistoryQueries(foundation().readModels, foundation().store) },
    {
      provide: WhyQueries,
      useFactory: () => new WhyQueries(foundation().readModels, foundation().store, foundation().gapSeconds),
    },
    { provide: ReadinessQueries, useFactory: () => new ReadinessQueries(foundation().readModels, foundation().store) },
    { provide: ReadModelQueries, useFactory: () => new ReadModelQueries(foundation().readModels, foundation().store) },
    { provide: Attempts, useFactory: () => foundation().attempts },
    { provide: LogTails, useFactory: () => foundation().tails },
    { provide: MachineApiLocation, useFactory: () => foundation().machineApi },
    { provide: WebhookAccess, useFactory: () => foundation().webhooks },
    {
      provide: WebhookQueries,
      useFactory: () => new WebhookQueries(foundation().webhooks.database, foundation().store),
    },
    { provide: IdentityProvider, useFactory: () => foundation().provider ?? new IdentityProvider(null, FRESH_SECONDS) },
    { provide: PageFiles, useFactory: () => foundation().page ?? PageFiles.none() },
    { provide: Clock, useClass: SystemClock },
  ];
  return { provided, tokens: provided.map(({ provide }) => provide) };
};

/** What people call: sessions, enrolment tokens, machines, read models. Any request may land on any instance (U9). */
@Module({})
export class OperatorApiModule {
  static on(foundation: OperatorApiFoundation): DynamicModule {
    return OperatorApiModule.with(() => foundation);
  }

  /** Without what it stands on: enough to describe its routes. */
  static described(): DynamicModule {
    return OperatorApiModule.with(() => {
      throw new Error('The operator API was only meant to be described');
    });
  }

  private static with(foundation: () => OperatorApiFoundation): DynamicModule {
    return {
      module: OperatorApiModule,
      imports: [
        CqrsModule.forRoot(),
        FoundationModule.on(foundation),
        HealthModule.register({ checks: () => foundation().readiness }),
        PageModule,
        SessionModule,
        AccountModule,
        LoginModule,
        CodeModule,
        EnrolmentModule,
        MachineModule,
        PeopleModule,
        AutomationModule,
        PromiseModule,
        PresenceModule,
        ReadModelModule,
        WebhookModule,
        WorkspaceModule,
      ],
    };
  }
}

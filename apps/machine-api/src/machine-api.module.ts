import { Module, type DynamicModule } from '@nestjs/common';
import { CqrsModule } from '@nestjs/cqrs';
import { EventStore } from '@rollcall/event-store';
import { Clock, SystemClock } from '@rollcall/lifetimes';
import { LogTails } from '@rollcall/log-tails';
import { Authenticator, HealthModule, type ReadinessCheck } from '@rollcall/nest-platform';
import { NO_METRICS } from '@rollcall/telemetry';
import { ChainTokens } from './chain/chain-tokens.js';
import { RefusedUses } from './credential/refused-uses.js';
import { StartRotationController } from './credential/start-rotation/start-rotation.controller.js';
import { StartRotationHandler } from './credential/start-rotation/start-rotation.handler.js';
import { CodeStarts } from './code/code-starts.js';
import { PollPace } from './code/poll-pace.js';
import { RedeemCodeController } from './code/redeem-code/redeem-code.controller.js';
import { RedeemShortCodeHandler } from './code/redeem-code/redeem-code.handler.js';
import { RequestCodeController } from './code/request-code/request-code.controller.js';
import { RequestShortCodeHandler } from './code/request-code/request-code.handler.js';
import { ReceiveLogTailController } from './log-tail/receive-log-tail/receive-log-tail.controller.js';
import { ReceiveLogTailHandler } from './log-tail/receive-log-tail/receive-log-tail.handler.js';
import { AcceptCheckController } from './machine/accept-check/accept-check.controller.js';
import { AcceptMachineCheckHandler } from './machine/accept-check/accept-check.handler.js';
import { CheckCounts } from './machine/check-counts.js';
import { CredentialHolders } from './machine/credential-holders.js';
import { EnrolController } from './machine/enrol/enrol.controller.js';
import { EnrolInstallationHandler } from './machine/enrol/enrol.handler.js';
import { MachineTerms } from './machine/machine-terms.js';
import { RedeemPreadmissionController } from './machine/redeem-preadmission/redeem-preadmission.controller.js';
import { RefusedClaims } from './machine/refused-claims.js';
import { Successions } from './machine/successions.js';
import { CredentialForm } from './machine/presented-credential.js';
import { RecordEpoch } from './record/record-epoch.js';

/** What an instance needs that was opened before it, and is closed after it. */
export type MachineApiParts = {
  readonly store: EventStore;
  readonly tails: LogTails;
  readonly epoch: RecordEpoch;
  readonly tokens: ChainTokens;
  readonly terms: MachineTerms;
  readonly readiness: readonly ReadinessCheck[];
  /** (Default: nothing is counted) */
  readonly counts?: CheckCounts;
  /** (Default: the system's) */
  readonly clock?: Clock;
};

/** The root module of the machine API. */
@Module({})
export class MachineApiModule {
  static over({ store, tails, epoch, tokens, terms, readiness, counts, clock }: MachineApiParts): DynamicModule {
    return {
      module: MachineApiModule,
      imports: [CqrsModule, HealthModule.register({ checks: () => readiness })],
      controllers: [
        AcceptCheckController,
        EnrolController,
        RedeemPreadmissionController,
        RequestCodeController,
        RedeemCodeController,
        ReceiveLogTailController,
        StartRotationController,
      ],
      providers: [
        AcceptMachineCheckHandler,
        EnrolInstallationHandler,
        RefusedClaims,
        Successions,
        RequestShortCodeHandler,
        RedeemShortCodeHandler,
        CodeStarts,
        PollPace,
        ReceiveLogTailHandler,
        StartRotationHandler,
        RefusedUses,
        CredentialHolders,
        { provide: Authenticator, useClass: CredentialForm },
        { provide: EventStore, useValue: store },
        { provide: LogTails, useValue: tails },
        { provide: RecordEpoch, useValue: epoch },
        { provide: ChainTokens, useValue: tokens },
        { provide: MachineTerms, useValue: terms },
        { provide: Clock, useValue: clock ?? new SystemClock() },
        { provide: CheckCounts, useValue: counts ?? new CheckCounts(NO_METRICS.meter) },
      ],
    };
  }
}

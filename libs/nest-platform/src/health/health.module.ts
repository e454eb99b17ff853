import {
  Controller,
  Get,
  Inject,
  Module,
  type DynamicModule,
  type FactoryProvider,
  type ModuleMetadata,
} from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import { Refusal } from '@rollcall/decider';
import { Does } from '../access/action.js';

/** Something without which an instance should get no requests. */
export type ReadinessCheck = {
  /** Shown to whoever asks: one or two words, for example `database`. */
  readonly name: string;
  /** Resolves when all is well. What it rejects with is not shown to anybody. */
  check(): Promise<void>;
};

/** Longer than any healthy answer, shorter than the patience of a load balancer. */
const CHECK_TIMEOUT_MS = 2_000;

const READINESS_CHECKS = Symbol('rollcall.readiness-checks');

/** Asks all checks at once. Who asks while others wait gets their answer: this route is open to everybody, and must cost little. */
class Readiness {
  private running: Promise<string[]> | null = null;

  constructor(private readonly checks: readonly ReadinessCheck[]) {}

  /** The names of what is not well. */
  missing(): Promise<string[]> {
    this.running ??= this.ask().finally(() => {
      this.running = null;
    });
    return this.running;
  }

  private async ask(): Promise<string[]> {
    const outcomes = await Promise.all(this.checks.map((one) => withinTime(one)));
    return this.checks.filter((_, index) => !outcomes[index]).map(({ name }) => name);
  }
}

const withinTime = async (one: ReadinessCheck): Promise<boolean> => {
  const late = Promise.withResolvers<false>();
  const timer = setTimeout(() => late.resolve(false), CHECK_TIMEOUT_MS);
  try {
    const well = Promise.try(() => one.check()).then(
      () => true,
      () => false,
    );
    return await Promise.race([well, late.promise]);
  } finally {
    clearTimeout(timer);
  }
};

@ApiExcludeController()
@Does('tell-health')
@Controller()
class HealthController {
  private readonly readiness: Readiness;

  constructor(@Inject(READINESS_CHECKS) checks: readonly ReadinessCheck[]) {
    this.readiness = new Readiness(checks);
  }

  /** The process answers. */
  @Get('healthz')
  live(): { status: 'live' } {
    return { status: 'live' };
  }

  /** This instance can record what it is told. */
  @Get('readyz')
  async ready(): Promise<{ status: 'ready' }> {
    const missing = await this.readiness.missing();
    if (missing.length > 0) throw new Refusal('unavailable', { detail: `Not ready: ${missing.join(', ')}.` });
    return { status: 'ready' };
  }
}

/** `GET /healthz` and `GET /readyz`, for load balancers and process supervisors. */
@Module({})
export class HealthModule {
  /** `checks` are made by a factory, because they reach for what other modules provide. */
  static register({
    imports = [],
    inject = [],
    checks,
  }: {
    readonly imports?: NonNullable<ModuleMetadata['imports']>;
    readonly inject?: NonNullable<FactoryProvider['inject']>;
    readonly checks: FactoryProvider<readonly ReadinessCheck[]>['useFactory'];
  }): DynamicModule {
    return {
      module: HealthModule,
      imports,
      controllers: [HealthController],
      providers: [{ provide: READINESS_CHECKS, inject, useFactory: checks }],
    };
  }
}

import type { OnApplicationBootstrap, OnModuleDestroy } from '@nestjs/common';
import { Lifetime } from '@rollcall/lifetimes';
import type { WebhookWorker, WorkerStatus } from '@rollcall/webhooks';

/** Owns the loop that delivers webhooks, from the app's start to its end. Every instance runs one: they share a queue. */
export class Delivering implements OnApplicationBootstrap, OnModuleDestroy {
  readonly #loops = new Lifetime();

  constructor(private readonly worker: WebhookWorker) {}

  onApplicationBootstrap(): void {
    this.#loops.run((signal) => this.worker.run(signal));
  }

  /** Resolves when what was under way has ended, or was given back. */
  async onModuleDestroy(): Promise<void> {
    await this.#loops.end();
  }

  status(): WorkerStatus {
    return this.worker.status();
  }
}

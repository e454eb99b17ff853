import type { OnApplicationShutdown } from '@nestjs/common';
import type { EventStore } from '@rollcall/event-store';
import type { ReadModelDatabase } from '@rollcall/read-models';

/** Owns the connections. They end after the loops, which need them to end in order. */
export class Connections implements OnApplicationShutdown {
  constructor(
    readonly store: EventStore,
    readonly database: ReadModelDatabase,
  ) {}

  async onApplicationShutdown(): Promise<void> {
    await Promise.all([this.store.close(), this.database.destroy()]);
  }
}

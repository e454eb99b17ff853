import type { OnApplicationShutdown } from '@nestjs/common';
import type { PostgresEventStore } from '@rollcall/event-store-postgres';
import type { Feed } from '@rollcall/feed';
import type { ReadModelDatabase } from '@rollcall/read-models';
import type { PostgresRelayCursor } from '@rollcall/relay';

/** Owns the connections. They end after the loops, which need them to end in order. */
export class Connections implements OnApplicationShutdown {
  constructor(
    readonly store: PostgresEventStore,
    readonly database: ReadModelDatabase,
    readonly cursor: PostgresRelayCursor,
    /** null where none is configured. */
    readonly feed: Feed | null,
  ) {}

  async onApplicationShutdown(): Promise<void> {
    await Promise.all([this.feed?.close(), this.store.close(), this.database.destroy(), this.cursor.close()]);
  }
}

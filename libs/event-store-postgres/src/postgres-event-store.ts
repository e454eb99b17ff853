import { LogBackedStore, type GroupCommitOptions } from '@rollcall/event-store';
import type { Instant } from '@rollcall/decider';
import { PostgresLog, type PostgresLogOptions } from './postgres-log.js';

/** The event store on Postgres. */
export class PostgresEventStore extends LogBackedStore {
  private constructor(
    protected override readonly log: PostgresLog,
    options: GroupCommitOptions,
  ) {
    super(log, options);
  }

  /**
   * Connects, makes the partitions of the next days, and confirms the epoch.
   * @throws Error when the database cannot be reached or is not migrated.
   */
  static async connect(options: PostgresLogOptions & GroupCommitOptions): Promise<PostgresEventStore> {
    const log = new PostgresLog(options);
    try {
      await log.makePartitions();
      await log.epoch();
    } catch (error) {
      await log.close();
      throw error;
    }
    return new PostgresEventStore(log, options);
  }

  /** From when on no check-in has a place; null before this instance has made any. It is two weeks ahead, and moves every few hours. */
  checkInsEnd(): Instant | null {
    return this.log.checkInsEnd();
  }

  /** Over a log that a test holds in its own hands. */
  static over(log: PostgresLog, options: GroupCommitOptions = {}): PostgresEventStore {
    return new PostgresEventStore(log, options);
  }
}

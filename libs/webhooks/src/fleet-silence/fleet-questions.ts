import type { Clock } from '@rollcall/lifetimes';
import { sql, type Transaction } from 'kysely';
import type { WebhookTables } from '../tables.js';

/** A count reads every machine of the owner: a quarter of a second for 100,000. */
const ANSWERED_WITHIN = '3s';
const NOT_ASKED_AGAIN_MS = 60_000;

/**
 * Questions about all machines of an owner, inside the transaction that moves the cursor. What takes too long is not known, and notices go out
 * without it: they must not wait for it again and again, so for a minute nothing is asked about that owner.
 */
export class FleetQuestions {
  readonly #tookTooLong = new Map<string, number>();

  constructor(private readonly clock: Clock) {}

  /** @returns null where the answer would take too long */
  async ask<Result>(
    transaction: Transaction<WebhookTables>,
    owner: string,
    question: () => Promise<Result>,
  ): Promise<Result | null> {
    const tookTooLong = this.#tookTooLong.get(owner);
    if (tookTooLong !== undefined && this.clock.monotonic() - tookTooLong < NOT_ASKED_AGAIN_MS) return null;
    await sql`savepoint asked`.execute(transaction);
    try {
      await sql`select set_config('statement_timeout', ${ANSWERED_WITHIN}, true), set_config('lock_timeout', ${ANSWERED_WITHIN}, true)`.execute(
        transaction,
      );
      const result = await question();
      // Gives back the settings as well.
      await sql`rollback to savepoint asked`.execute(transaction);
      return result;
    } catch (error) {
      if (!isTooLate(error)) throw error;
      await sql`rollback to savepoint asked`.execute(transaction);
      this.#tookTooLong.set(owner, this.clock.monotonic());
      return null;
    }
  }
}

/** query_canceled, lock_not_available. */
const isTooLate = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && (error.code === '57014' || error.code === '55P03');

import { ledgerEventOf, type LedgerEvent } from '@rollcall/event-store';
import { sql, type Transaction } from 'kysely';
import type { WebhookTables } from '../tables.js';
import { learn, LEARNT, UNKNOWN, type KnownMachine } from './notice.js';

/**
 * What the record says of machines up to a batch, by stream. Read from the events of each of them, by index: nothing is kept between two
 * questions, so nothing can be out of date, or lost.
 */
export const knownMachines = async (
  transaction: Transaction<WebhookTables>,
  streams: readonly string[],
  upTo: bigint,
): Promise<Map<string, KnownMachine>> => {
  const known = new Map<string, KnownMachine>();
  if (streams.length === 0) return known;
  const { rows } = await sql<{ stream: string; type: string; body: string }>`
    select stream, type, body from (
      select distinct on (stream, type) stream, type, revision, body from event
      where stream = any(${streams}) and type = any(${LEARNT}) and batch <= ${upTo.toString()}::bigint
      order by stream, type, revision desc
    ) newest order by stream, revision`.execute(transaction);
  for (const { stream, type, body } of rows) {
    const event: LedgerEvent = ledgerEventOf(type, body);
    known.set(stream, learn(known.get(stream) ?? UNKNOWN, event));
  }
  return known;
};

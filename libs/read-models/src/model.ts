import type { RecordedFact } from '@rollcall/event-store';
import type { Transaction } from 'kysely';
import type { ReadModelTables } from './tables.js';
import type { Parked } from './understand.js';

/** A read model: a pure projection with its tables. The same code follows the record, catches up and rebuilds. */
export interface ReadModel {
  /** Its row in `read_model`, and its name for people. */
  readonly name: string;
  /** Applies facts in the order of the record, inside the transaction that also moves the checkpoint. */
  apply(transaction: Transaction<ReadModelTables>, facts: readonly RecordedFact[]): Promise<readonly Parked[]>;
  /** Empties its tables. */
  clear(transaction: Transaction<ReadModelTables>): Promise<void>;
}

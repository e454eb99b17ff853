import { ReplacedConnection } from './connection.js';
import { BATCH_OF_EVENT } from './sql.js';

const TIMEOUT_MS = 4_000;

/** The batch that recorded the ledger event at a position; null where there is none. */
export const batchOfEvent = async (connectionString: string, position: bigint): Promise<bigint | null> => {
  const connection = new ReplacedConnection(connectionString, 'rollcall relay', TIMEOUT_MS);
  try {
    const { rows } = await connection.query<{ batch: bigint }>({ text: BATCH_OF_EVENT, values: [position] });
    return rows[0]?.batch ?? null;
  } finally {
    await connection.close();
  }
};

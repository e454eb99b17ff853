import { ReplacedConnection } from './connection.js';
import { RENEW_EPOCH } from './sql.js';

const TIMEOUT_MS = 10_000;

/** Gives the record another epoch, a step of every restore: readers of the one before rebuild. @returns the new one. */
export const renewEpoch = async (connectionString: string): Promise<string> => {
  const connection = new ReplacedConnection(connectionString, 'rollcall setup', TIMEOUT_MS);
  try {
    const { rows } = await connection.query<{ epoch: string }>({ text: RENEW_EPOCH });
    return (rows[0] as { epoch: string }).epoch;
  } finally {
    await connection.close();
  }
};

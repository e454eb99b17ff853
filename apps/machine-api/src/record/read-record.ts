import { Refusal } from '@rollcall/decider';

/** Seconds. */
const RETRY_AFTER = 2;

/** Reads from the record; a record that cannot be reached is for the caller what one is that cannot be written: come again. */
export const readRecord = async <Result>(read: Promise<Result>): Promise<Result> => {
  try {
    return await read;
  } catch (error) {
    throw error instanceof Refusal ? error : new Refusal('unavailable', { retryAfter: RETRY_AFTER });
  }
};

import { OutcomeUnknown, RecordUnavailable } from '@rollcall/event-store';

// What the operating system and PostgreSQL call a server that is away, full or going down (class 08, 53, 57P).
const AWAY =
  /^(ECONNREFUSED|ECONNRESET|EPIPE|ETIMEDOUT|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH|08\w{3}|53\w{3}|57P0[1-4])$/;
// pg has no codes for its own side of the same.
const LOST =
  /^(Connection terminated|timeout exceeded when trying to connect|Query read timeout|Client has encountered a connection error)/;

/**
 * Whether a fault says that the database is away rather than that we are wrong. It passes without anybody's repair of ours, so the
 * caller is asked to come again (503) instead of being told that the plane failed (500).
 */
export const isOutage = (error: unknown): boolean => {
  if (!(error instanceof Error)) return false;
  if (error instanceof RecordUnavailable || error instanceof OutcomeUnknown) return true;
  if ('code' in error && typeof error.code === 'string' && AWAY.test(error.code)) return true;
  return LOST.test(error.message) || isOutage(error.cause);
};

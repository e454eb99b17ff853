import { createHash } from 'node:crypto';

/** The id of a notice that follows from an event: the same each time that the event is looked at, also after a restore (a UUID of version 8). */
export const noticeIdFrom = (eventId: string, what: 'began' | 'ended' | `promised ${string}`): string => {
  const hash = createHash('sha256').update(`${eventId} ${what}`).digest('hex');
  return `${hash.slice(0, 8)}-${hash.slice(8, 12)}-8${hash.slice(13, 16)}-8${hash.slice(17, 20)}-${hash.slice(20, 32)}`;
};

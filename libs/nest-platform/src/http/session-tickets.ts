import { hkdfSync } from 'node:crypto';

/** Seconds in which a TLS session is resumed at most. */
export const SESSION_LIFE = 86_400;

/**
 * The keys under which session tickets are sealed on a day (UTC). Instances with one session key resume each other's sessions, and go on doing so
 * after a restart: a fleet that comes back to a plane pays for half a handshake each. A key seals for a day and at most the
 * hour until its instance looks at the clock again; then a session begins anew, which nobody notices. Who has the session key can play the
 * server of a session that is resumed: it is as secret as the server's own key.
 */
export const ticketKeysOf = (sessionKey: Buffer, at: Date): Buffer =>
  Buffer.from(hkdfSync('sha256', sessionKey, '', `rollcall tls tickets ${at.toISOString().slice(0, 10)}`, 48));

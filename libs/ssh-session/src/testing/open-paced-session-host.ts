import { SystemSessionClock, type SessionClock } from '../session-clock.js';
import { SessionHost, type SessionHostPorts } from '../session-host.js';
import type { Pace } from '../session.js';

export type { Pace } from '../session.js';

/** A session host that lives in shorter times, or in a clock of the test's. Tests only: the lib's own entry has no such thing (T-1.10). */
export const openPacedSessionHost = (
  ports: SessionHostPorts,
  pace: Pace,
  clock: SessionClock = new SystemSessionClock(),
): SessionHost => new SessionHost(ports, pace, clock);

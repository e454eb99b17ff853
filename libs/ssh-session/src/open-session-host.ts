import { TIMING } from '@rollcall/transport-watchdog';
import { SystemSessionClock } from './session-clock.js';
import { SessionHost, type SessionHostPorts } from './session-host.js';

/**
 * The longest that one remote command of a disposal may take, in milliseconds. A transport whose answer takes longer than two probe intervals
 * counts as unresponsive, so a command that takes as long has as little hope; and a stop has two of them.
 */
const COMMAND_LIMIT = 30_000;

/** A session host for this process. Its times are fixed: nothing about them can be set, here or from outside (T-1.10). */
export const openSessionHost = (ports: SessionHostPorts): SessionHost =>
  new SessionHost(ports, { timing: TIMING, commandLimit: COMMAND_LIMIT }, new SystemSessionClock());

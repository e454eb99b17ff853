export * from './bench.js';
export * from './fake-link.js';
export * from './fakes.js';
export * from './manual-session-clock.js';
export * from './open-paced-session-host.js';
export { sshDialIn } from '../dial.js';
export { SystemSessionClock, type SessionClock } from '../session-clock.js';

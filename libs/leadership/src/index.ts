export { Leadership } from './leadership.js';
export type { LeadershipLog, LeadershipOptions, LeadershipStatus } from './leadership.js';

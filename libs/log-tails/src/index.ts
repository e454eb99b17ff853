export { LogTails, type KeptLogTail, type LogTail } from './log-tails.js';
export { PostgresLogTails, type PostgresLogTailsOptions } from './postgres-log-tails.js';

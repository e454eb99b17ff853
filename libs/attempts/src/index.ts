export { Attempts, type AttemptRule, type Verdict } from './attempts.js';
export { PostgresAttempts, type PostgresAttemptsOptions } from './postgres-attempts.js';

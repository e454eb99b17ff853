export { InMemoryAttempts } from './in-memory-attempts.js';

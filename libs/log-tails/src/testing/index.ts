export { InMemoryLogTails } from './in-memory-log-tails.js';

export { InMemoryEventStore, InMemoryLog } from './in-memory-log.js';

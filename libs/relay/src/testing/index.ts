export { InMemoryRelayCursor } from './in-memory-cursor.js';
export { InMemoryRecord } from './in-memory-record.js';

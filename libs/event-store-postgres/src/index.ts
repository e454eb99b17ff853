export { PostgresEventStore } from './postgres-event-store.js';
export { PostgresLog } from './postgres-log.js';
export type { PostgresLogOptions } from './postgres-log.js';
export { readDatabaseUrl } from './database-url.js';
export { batchOfEvent } from './batch-of-event.js';
export { renewEpoch } from './renew-epoch.js';

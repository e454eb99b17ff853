export { openWebhooks } from './database.js';
export type { WebhookDatabaseOptions } from './database.js';
export { JobQueueMissing, WebhookQueue } from './queue.js';
export type { NewDelivery, Replayed, WebhookQueueOptions } from './queue.js';
export type { DeliveryState, PauseReason, WebhookDatabase, WebhookTables } from './tables.js';

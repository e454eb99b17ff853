export { RelayCursor } from './cursor.js';
export { messagesOf } from './messages.js';
export type { EventMessage } from './messages.js';
export { PostgresRelayCursor } from './postgres-cursor.js';
export type { PostgresRelayCursorOptions } from './postgres-cursor.js';
export { Relay } from './relay.js';
export type { RelayLog, RelayOptions, RelayRecord, RelayStatus, RelayStep } from './relay.js';
export { isWithheld } from './withheld.js';

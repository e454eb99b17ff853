export { inboxPrefix, NATS_RIGHTS, type NatsRights, type NatsRole } from './rights.js';

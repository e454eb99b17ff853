export { EmbeddedNats, NatsPortTaken, type NatsOptions, type NatsUser } from './embedded-nats.js';
export { findNatsServer, type NatsServer } from './find-nats-server.js';

export { NatsFeed, type NatsFeedOptions } from './nats-feed.js';
export { readCredentials, type Credentials } from './credentials.js';
export { inboxPrefix, NATS_RIGHTS, type NatsRights, type NatsRole } from './rights.js';
export { DEFAULT_SIZES, type FeedSizes } from './settings.js';
export { readNatsFeed, type NatsFeedSettings } from './feed-settings.js';

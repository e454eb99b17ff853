export * from './transport-error.js';
export * from './server-identity.js';
export * from './pinned-client.js';

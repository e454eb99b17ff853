export * from './facts.js';
export * from './commands.js';
export { webhookEndpoint, type WebhookEndpointState } from './endpoint.js';

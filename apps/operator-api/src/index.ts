export { readOperatorApiConfig, type OperatorApiConfig } from './config.js';
export { MachineApiLocation } from './enrolment/machine-api-location.js';
export { document, routes } from './openapi.js';
export { OperatorApiModule, type OperatorApiFoundation } from './operator-api.module.js';
export { start, type OperatorApi } from './start.js';
export { WebhookAccess } from './webhook/webhook-access.js';

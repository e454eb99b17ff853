export { readOperatorApiConfig, type OperatorApiConfig } from './config.js';
export { MachineApiLocation } from './enrolment/machine-api-location.js';
export { document } from './openapi.js';
export { OperatorApiModule, type OperatorApiFoundation } from './operator-api.module.js';
export { ensureFirstPerson } from './person/ensure-first-person.js';
export { issueSignInLink, signInAddress } from './person/sign-in-link.js';
export { start, type OperatorApi } from './start.js';

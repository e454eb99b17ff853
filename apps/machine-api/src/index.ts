export { ensureChainKey } from './chain/chain-key.js';
export { PORT_VARIABLE, readMachineApiConfig } from './config.js';
export type { MachineApiConfig } from './config.js';
export { MachineApiModule } from './machine-api.module.js';
export type { MachineApiParts } from './machine-api.module.js';
export { routes } from './openapi.js';
export { start } from './start.js';
export type { MachineApiSurroundings, RunningMachineApi } from './start.js';

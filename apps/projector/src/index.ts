export type { Reached } from './app.module.js';
export { readProjectorConfig, type ProjectorConfig } from './config.js';
export { start, type Projector } from './start.js';

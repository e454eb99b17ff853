export { Fleet, type FleetOptions, type PlaneConnections, type RunOptions } from './fleet.js';
export { LIFE, type LifeEvent } from './simulated-machine.js';
export type { FleetReport } from './tally.js';

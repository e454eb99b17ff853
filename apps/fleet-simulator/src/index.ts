export {
  Fleet,
  type FleetOptions,
  type LiveOptions,
  type PlaneConnections,
  type RunOptions,
  type SentCheck,
} from './fleet.js';
export { LIFE, type LifeEvent } from './simulated-machine.js';
export type { FleetReport } from './tally.js';

export * from './builders.js';
export { HonestAgent } from './honest-agent.js';
export { StreamOnClock } from './record.js';
export { ChainedPlane, chanceOf, Holder, type Sent } from './holders.js';

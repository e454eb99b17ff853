export * from './builders.js';
export { HonestAgent } from './honest-agent.js';
export { StreamOnClock } from './record.js';

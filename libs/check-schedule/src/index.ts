export * from './retry-after.js';
export * from './schedule.js';

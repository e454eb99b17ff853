export * from './timing.js';
export * from './watch.js';

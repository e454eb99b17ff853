export * from './bell.js';
export * from './clock.js';
export * from './deadline.js';
export * from './lifetime.js';
export * from './not-before.js';

export * from './manual-clock.js';

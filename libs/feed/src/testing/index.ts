export * from './in-memory-feed.js';

export * from './feed.js';
export * from './names.js';

export * from './private-directory.js';
export * from './private-file.js';
export * from './unsafe-file.js';

export * from './loopback.js';
export * from './socket-path.js';
export * from './single-owner.js';
export * from './control-server.js';
export * from './control-client.js';

export { ConfigError, EnvironmentReader, readConfig, type Environment } from './read-config.js';

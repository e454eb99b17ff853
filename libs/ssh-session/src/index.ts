export * from './far-side.js';
export * from './metadata-files.js';
export * from './open-session-host.js';
export * from './ports.js';
export * from './session-error.js';
export type { LaunchSpec, SessionHost, SessionHostPorts, StepOutcome, StopReport } from './session-host.js';
export * from './session-log.js';
export * from './session-metadata.js';
export type { OpenSession, SessionStatus } from './session.js';

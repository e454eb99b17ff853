export type { Surroundings } from './context.js';
export { EXIT, type ExitCode } from './failure.js';
export { run } from './run.js';

// For tests of whole processes: the daemon with somebody who listens to its steps. The shipped program has no way to give one.
export { run } from '../commands/run.js';
export { readCredential } from '../installation/credential-file.js';
export { stateDirectory } from '../installation/state-directory.js';
export type { RotationStep } from '../rotation/rotate.js';

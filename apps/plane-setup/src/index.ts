export { run, type Surroundings } from './program.js';

export { FixedResolver } from './fixed-resolver.js';

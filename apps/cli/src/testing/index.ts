export { captured, type Captured } from './captured.js';

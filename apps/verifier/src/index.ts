export { readAnswers, type Answer } from './answers.js';
export type { Finding } from './finding.js';
export { INVARIANTS, verify, type Verdict, type VerifyOptions } from './verify.js';

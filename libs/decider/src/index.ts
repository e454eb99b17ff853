export type { ClaimChange, Decider, Instant, Json, Moment, Rules, Typed } from './decider.js';
export { Refusal } from './refusal.js';
export { instantOf, timestampOf } from './timestamp.js';

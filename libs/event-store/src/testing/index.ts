export { InMemoryEventStore, InMemoryLog } from './in-memory-log.js';
export { checkOf, tally, type Tally, type TallyCommand, type TallyFact } from './rules.js';
export { interruptible } from './interruptible.js';

export * from './facts.js';
export * from './commands.js';
export { answerTo, type CheckAnswerContent, machine, type MachineState } from './machine.js';
export { withoutResettable } from './resettable.js';
export { gapBetween, type Gap, type Heard, presence, type Presence, silence } from './presence.js';
export { lifecycle, type LastWord, type Lifecycle } from './lifecycle.js';
export { type Condition, readinessSentence } from './readiness.js';
export { type Blocker, BLOCKER_CODES, blockerOf } from './blockers.js';
export { cleanDisplay } from './clean-display.js';

export * from './facts.js';
export * from './commands.js';
export {
  answerTo,
  type CheckAnswerContent,
  dueForAbsence,
  handingOn,
  machine,
  type MachineState,
  rotationAsked,
  type RotationPolicy,
} from './machine.js';
export { generationOf } from './credential.js';
export { olderUse, type OlderUse, refusals, type Refusals } from './refusals.js';
export { withoutResettable } from './resettable.js';
export { gapBetween, type Gap, type Heard, presence, type Presence, silence } from './presence.js';
export { type Requests } from './requests.js';
export { pauseStands, type Pause } from './pause.js';
export { isLabelValue, LABEL_KEY, LABEL_VALUE_LENGTH, type Labels, MOST_LABELS, parseLabel } from './labels.js';
export { type Absence } from './absence.js';
export { type Copies } from './copies.js';
export { accountAfter, type AccountEntry, type GenerationAccount } from './credential-account.js';
export { isOwnEntry, joinPages } from './history-pages.js';
export { lifecycle, type LastWord, type Lifecycle } from './lifecycle.js';
export { type Condition, DUPLICATE, isPlanesWord, PAUSED, readinessSentence } from './readiness.js';
export { canTakeWork, isBlocked } from './can-take-work.js';
export { type Blocker, BLOCKER_CODES, blockerOf } from './blockers.js';
export { why, type KnownThen } from './why.js';
export { cleanDisplay } from './clean-display.js';

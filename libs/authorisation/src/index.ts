export { ACTIONS, type Action, type ActionRule } from './actions.js';
export { AUTOMATION_EVENTS, mayRecord, PERSON_ONLY_EVENTS, RECORDED_ACTORS } from './events.js';
export { isScope, SCOPES, type Scope } from './scopes.js';
export { FRESH_SECONDS, kindsFor, verdictOn, type ActorKind, type Asker, type Verdict } from './verdict.js';

export * from './facts.js';
export * from './commands.js';
export {
  beganAt,
  isFresh,
  isIdle,
  liveSession,
  liveSessions,
  person,
  type Account,
  type PersonState,
  type Session,
  type SignInLink,
} from './person.js';
export * from './automation-facts.js';
export {
  automation,
  AUTOMATION_LIFE_SECONDS,
  automationOwnerOf,
  automationStream,
  automationTokenKey,
  liveToken,
  liveTokens,
  MOST_AUTOMATION_TOKENS,
  type AutomationCommand,
  type AutomationState,
  type AutomationToken,
} from './automation.js';
export * from './people-facts.js';
export { MOST_PEOPLE, people, PEOPLE_STREAM, type AddPerson, type PeopleState, type RemovePerson } from './people.js';
export * from './workspace-facts.js';
export {
  memberships,
  membershipsStream,
  MOST_IN_WORKSPACE,
  sees,
  workspace,
  workspaceStream,
  type Binding,
  type WorkspaceChange,
  type WorkspaceState,
} from './workspace.js';

/**
 * Events that only a person brings about: what admits a machine, opens a way to admit one, takes one away for good, or gives somebody else
 * access, or ends it (O3). The SQL function `actor_may_record` has the same list, and a test compares the two.
 */
export const PERSON_ONLY_EVENTS: ReadonlySet<string> = new Set([
  'AccessEnded',
  'AccountLinked',
  'AutomationTokenIssued',
  'CodeApproved',
  'DirectoryBound',
  'LoginApproved',
  'MachineAdmitted',
  'MachineDeleted',
  'MemberAdded',
  'PersonAdded',
  'PersonRemoved',
  'TokenIssued',
]);

/** All that an automation token can bring about. What is not here is forbidden to it, also what is invented later. */
export const AUTOMATION_EVENTS: ReadonlySet<string> = new Set([
  'WebhookEndpointAdded',
  'WebhookEndpointPaused',
  'WebhookEndpointRemoved',
  'WebhookEndpointResumed',
  'WebhookReplayRequested',
  'WebhookSecretRolled',
  'WebhookTestRequested',
]);

/** The kinds of actor that an event can name. */
export const RECORDED_ACTORS = ['person', 'automation', 'machine', 'plane'] as const;

/** Whether an event of this type can have an actor of this kind. */
export const mayRecord = (kind: (typeof RECORDED_ACTORS)[number], type: string): boolean => {
  if (kind === 'person') return true;
  return kind === 'automation' ? AUTOMATION_EVENTS.has(type) : !PERSON_ONLY_EVENTS.has(type);
};

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import type { CodeEvent, LoginEvent, TokenEvent } from '@rollcall/admission';
import { bodyOf, type Batch, type LedgerEvent } from '@rollcall/event-store';
import type { MachineEvent, RefusalEvent } from '@rollcall/machine';
import { boot } from '@rollcall/machine/testing';
import type { AutomationEvent, MembershipEvent, PeopleEvent, PersonEvent, WorkspaceEvent } from '@rollcall/person';
import type { PromiseEvent } from '@rollcall/promise-book';
import type { WebhookEndpointEvent } from '@rollcall/webhook-endpoint';
import { Ajv2020, type AnySchemaObject } from 'ajv/dist/2020.js';
import { messagesOf, type EventMessage } from './messages.js';
import { InMemoryRecord } from './testing/index.js';

const DIRECTORY = join(import.meta.dirname, '../../../docs/schemas');
const ENVELOPE = 'rollcall.event.v1.json';
const EPOCH = '0192f0c4-0000-7000-8000-000000000001';

/** Stands for every hash in the samples. */
const HASH = 'withheld';
const EXPIRES = '2026-01-01T13:00:00.000Z';

/** One of each type, with every field, so that the compiler asks for those that are new. */
type Samples<Event extends { readonly type: string }> = {
  readonly [Type in Event['type']]: Required<Omit<Extract<Event, { readonly type: Type }>, 'type'>>;
};
const machine: Samples<MachineEvent> = {
  MachineAdmitted: {
    machine: '1',
    nodeId: 'n',
    owner: 'p',
    token: 't',
    name: null,
    identifierHash: HASH,
    succeeds: '0',
    via: 'code',
  },
  GenerationRegistered: { generation: 2, keyHash: HASH, registeredAt: EXPIRES },
  GenerationConfirmed: { generation: 2 },
  CredentialForked: { generation: 2, boot: boot(3), noticedAt: EXPIRES },
  PendingVoided: { generation: 2 },
  RotationRequested: { stamp: EXPIRES, generation: 2 },
  AgentStarted: { boot: boot(3) },
  NameAdopted: { name: 'forge' },
  MachineRenamed: { name: 'forge' },
  SelfReportChanged: { hostname: 'forge', agentVersion: '1.0.0', platform: 'linux', arch: null },
  StopAnnounced: { reason: 'update' },
  BlockersChanged: { blockers: ['disk-full'] },
  LogTailRequested: { stamp: EXPIRES },
  LogTailReceived: { stamp: EXPIRES },
  WentAbsent: { lastCheckAt: EXPIRES, dueAt: EXPIRES, window: 120, stopReason: 'update' },
  Returned: { absentFor: 30 },
  MachinePaused: { note: 'a new disk', until: null },
  MachineResumed: {},
  LabelsChanged: { labels: { rack: 'b7' } },
  ClaimRefused: { noticedAt: EXPIRES, token: 't', hostname: 'forge' },
  MachineDeleted: { identifierHash: HASH, nodeId: 'n' },
};
const refusals: Samples<RefusalEvent> = {
  CredentialRefused: {
    machine: '1',
    code: 'credential-revoked',
    generation: 2,
    keyHash: HASH,
    lastAcceptedAt: EXPIRES,
    refusedAt: EXPIRES,
  },
};
const token: Samples<TokenEvent> = {
  TokenIssued: {
    tokenHash: HASH,
    expiresAt: EXPIRES,
    owner: 'p',
    name: null,
    node: 'n',
    preadmits: true,
    session: 's',
  },
  TokenWithdrawn: { token: 't' },
};
const code: Samples<CodeEvent> = {
  CodeRequested: {
    userCodeHash: HASH,
    deviceCodeHash: HASH,
    identifierHash: HASH,
    keyHash: HASH,
    report: { hostname: 'forge', agentVersion: '1.0.0', platform: 'linux', arch: null },
    expiresAt: EXPIRES,
  },
  CodeApproved: { owner: 'p', name: null, node: 'n', session: 's' },
  CodeRefused: { withdrawn: 'c' },
};
const login: Samples<LoginEvent> = {
  LoginRequested: {
    userCodeHash: HASH,
    deviceCodeHash: HASH,
    claims: { client: 'rollcall', device: 'desk', platform: null },
    expiresAt: EXPIRES,
  },
  LoginApproved: { person: 'p', authenticatedAt: EXPIRES },
  LoginRefused: {},
  LoginPickedUp: {},
};
const person: Samples<PersonEvent> = {
  PersonRegistered: { name: 'Ada', first: true },
  SignInLinkIssued: { linkHash: HASH, expiresAt: EXPIRES },
  SessionStarted: {
    sessionId: 's',
    sessionHash: HASH,
    linkHash: HASH,
    login: 'l',
    account: 'a',
    expiresAt: EXPIRES,
    authenticatedAt: EXPIRES,
    browser: true,
  },
  AccountLinked: { accountId: 'a', accountHash: HASH, provider: 'id.example', linkedAt: EXPIRES },
  AccountUnlinked: { accountId: 'a', accountHash: HASH },
  SessionEnded: { sessionId: 's', sessionHash: HASH },
  AccessEnded: {},
};
const automation: Samples<AutomationEvent> = {
  AutomationTokenIssued: {
    tokenId: 'a',
    tokenHash: HASH,
    name: 'grafana',
    scopes: ['presence:read'],
    issuedAt: EXPIRES,
    expiresAt: EXPIRES,
  },
  AutomationTokenRevoked: { tokenId: 'a', tokenHash: HASH },
};
const people: Samples<PeopleEvent> = { PersonAdded: { personId: 'p' }, PersonRemoved: { personId: 'p' } };
const workspace: Samples<WorkspaceEvent> = {
  WorkspaceCreated: { name: 'robots', owner: 'p' },
  MemberAdded: { personId: 'p' },
  MemberRemoved: { personId: 'p' },
  DirectoryBound: { nodeId: 'n', directory: '/srv' },
  DirectoryUnbound: { nodeId: 'n', directory: '/srv' },
};
const memberships: Samples<MembershipEvent> = {
  WorkspaceJoined: { workspaceId: 'w' },
  WorkspaceLeft: { workspaceId: 'w' },
};
const promises: Samples<PromiseEvent> = {
  PromiseMade: { selector: 'label:site=berlin', schedule: 'weekdays 09:00-18:00 Europe/Berlin' },
  PromiseWithdrawn: { selector: 'node:n' },
};
const webhook: Samples<WebhookEndpointEvent> = {
  WebhookEndpointAdded: { owner: 'p', host: 'hooks.example.org', events: ['machine.absent'], promisedOnly: false },
  WebhookSecretRolled: {},
  WebhookEndpointPaused: {},
  WebhookEndpointResumed: {},
  WebhookTestRequested: {},
  WebhookReplayRequested: { eventId: null, from: EXPIRES, to: EXPIRES, types: ['machine.absent'] },
  WebhookEndpointRemoved: {},
};
const cases = Object.entries({
  machine,
  refusals,
  token,
  code,
  login,
  person,
  automation,
  people,
  workspace,
  memberships,
  promises,
  webhook,
}).flatMap(([category, samples]) =>
  Object.entries(samples).map(([type, fields]) => ({
    subject: `rollcall.${category}.${type}`,
    published: publish(`${category}-1`, { type, ...fields }),
  })),
);

/** What subscribers get of an event that is recorded. */
function publish(stream: string, event: LedgerEvent, body = bodyOf(event)): EventMessage {
  const [batch] = new InMemoryRecord().append(stream, event).batches() as [Batch];
  const facts = batch.facts.map((fact) => (fact.kind === 'event' ? { ...fact, body } : fact));
  return JSON.parse(messagesOf(EPOCH, { ...batch, facts })[1]?.body ?? '') as EventMessage;
}

type EventSchema = AnySchemaObject & {
  readonly properties: { readonly body: { readonly properties: object; readonly required: readonly string[] } };
};
const schemas = new Map(
  readdirSync(DIRECTORY).map((name) => [name, JSON.parse(readFileSync(join(DIRECTORY, name), 'utf8')) as EventSchema]),
);
const ajv = new Ajv2020({ schemas: [...schemas.values()], allowUnionTypes: true, strictTypes: false });
const schemaOf = (subject: string): EventSchema => schemas.get(`${subject}.v1.json`)!;
const isValid = (subject: string, message: unknown): boolean => ajv.validate(`${subject}.v1.json`, message);

describe('the schemas of what subscribers get', () => {
  it('are those of the message and of each type of event that there is', () =>
    expect([...schemas.keys()].toSorted()).toEqual(
      [ENVELOPE, ...cases.map(({ subject }) => `${subject}.v1.json`)].toSorted(),
    ));

  it.each(cases)('hold for $subject as it is published, field by field', ({ subject, published }) => {
    const { properties, required } = schemaOf(subject).properties.body;
    expect([subject, isValid(subject, published), ajv.errorsText()]).toEqual([subject, true, 'No errors']);
    // No field leaves that is not described.
    expect(Object.keys(published.body ?? {}).toSorted()).toEqual(Object.keys(properties).toSorted());
    // Nothing that is promised may be left out, or be something else.
    for (const field of required) {
      const { [field]: _, ...rest } = published.body ?? {};
      expect([field, isValid(subject, { ...published, body: rest })]).toEqual([field, false]);
      expect([field, isValid(subject, { ...published, body: { ...rest, [field]: 0.5 } })]).toEqual([field, false]);
    }
  });

  it.each(cases)('tell $subject from every other event', ({ subject, published }) => {
    for (const other of cases) expect(isValid(other.subject, published)).toBe(other.subject === subject);
  });

  it.each(cases)(
    'hold for $subject that cannot be read, and for one that has more to tell',
    ({ subject, published }) => {
      const torn = publish(published.stream, { type: published.type }, '{"torn');
      expect(torn.unreadable).toBe(true);
      expect(isValid(subject, torn)).toBe(true);
      expect(isValid(subject, { ...published, more: 1, body: { ...published.body, more: 1 } })).toBe(true);
    },
  );

  it('ask for every field of the message', () => {
    const [{ published }] = cases as [(typeof cases)[number]];
    expect(Object.keys(schemas.get(ENVELOPE)?.properties ?? {}).toSorted()).toEqual(
      [...Object.keys(published), 'unreadable'].toSorted(),
    );
    for (const field of Object.keys(published)) {
      const { [field as keyof EventMessage]: _, ...rest } = published;
      expect([field, ajv.validate(ENVELOPE, rest)]).toEqual([field, false]);
    }
  });
});

describe('what subscribers get', () => {
  it.each(cases)(
    'of $subject holds no hash and nothing that sounds like a secret (O5, O18)',
    ({ subject, published }) => {
      expect(JSON.stringify(published)).not.toContain(HASH);
      const fields = Object.keys(schemaOf(subject).properties.body.properties);
      expect(fields.filter((field) => /hash|secret|password|credential|identifier|key/i.test(field))).toEqual([]);
    },
  );
});

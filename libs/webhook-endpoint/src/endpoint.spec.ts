import { describe, expect, it } from '@jest/globals';
import { specFor } from '@rollcall/decider/testing';
import { endpointOf, webhookStream, type AddWebhookEndpoint, type WebhookEndpointCommand } from './commands.js';
import { webhookEndpoint } from './endpoint.js';
import type { WebhookEndpointAdded, WebhookEndpointEvent } from './facts.js';

const given = specFor(webhookEndpoint);

const add: AddWebhookEndpoint = {
  type: 'AddWebhookEndpoint',
  owner: 'ada',
  host: 'hooks.example.org',
  events: ['machine.absent'],
  promisedOnly: false,
};
const added: WebhookEndpointAdded = { ...add, type: 'WebhookEndpointAdded' };
const removed = { type: 'WebhookEndpointRemoved' } as const;
const paused = { type: 'WebhookEndpointPaused' } as const;
const resumed = { type: 'WebhookEndpointResumed' } as const;

const PER_VERB: readonly (readonly [string, WebhookEndpointCommand, WebhookEndpointEvent])[] = [
  ['another secret', { type: 'RollWebhookSecret' }, { type: 'WebhookSecretRolled' }],
  ['a pause', { type: 'PauseWebhookEndpoint' }, paused],
  ['its end', { type: 'ResumeWebhookEndpoint' }, resumed],
  ['a test', { type: 'TestWebhookEndpoint' }, { type: 'WebhookTestRequested' }],
  [
    'one notice again',
    { type: 'ReplayWebhookDeliveries', eventId: 'e1' },
    { type: 'WebhookReplayRequested', eventId: 'e1', from: null, to: null, types: [] },
  ],
  [
    'the notices of a time again',
    { type: 'ReplayWebhookDeliveries', from: 'f', to: 't', types: ['machine.absent'] },
    { type: 'WebhookReplayRequested', eventId: null, from: 'f', to: 't', types: ['machine.absent'] },
  ],
  ['its removal', { type: 'RemoveWebhookEndpoint' }, removed],
];

describe('an endpoint', () => {
  it('is added once, with what it is told, each once and in one order (U5)', () => {
    given()
      .when({ ...add, events: ['machine.deleted', 'machine.absent', 'machine.deleted'], promisedOnly: true })
      .then({ ...added, events: ['machine.absent', 'machine.deleted'], promisedOnly: true });
    given(added)
      .when({ ...add, host: 'elsewhere.example.org' })
      .thenNothing();
    given(added, removed).when(add).thenNothing();
  });

  it.each(PER_VERB)('is asked for %s where it is, and nowhere else (U6)', (_, command, event) => {
    given(added).when(command).then(event);
    given().when(command).thenRefused('webhook-not-found');
  });

  it.each(PER_VERB.slice(0, -1))('that was removed cannot be asked for %s', (_, command) =>
    given(added, removed).when(command).thenRefused('webhook-not-found'),
  );

  it('is removed once', () => given(added, removed).when({ type: 'RemoveWebhookEndpoint' }).thenNothing());

  it('is paused once, and resumed as often as somebody says so: its failures stop it too, and are not recorded', () => {
    given(added, paused).when({ type: 'PauseWebhookEndpoint' }).thenNothing();
    given(added, paused, resumed).when({ type: 'PauseWebhookEndpoint' }).then(paused);
    given(added, resumed).when({ type: 'ResumeWebhookEndpoint' }).then(resumed);
  });

  it('is known as it was added, and nothing that it does not know changes it', () => {
    const { type: _, ...how } = added;
    given(added, paused).when(add).thenState({ added: how, paused: true, removed: false });
    const state = webhookEndpoint.evolve(webhookEndpoint.initial(), added);
    expect(webhookEndpoint.evolve(state, { type: 'WebhookSang' } as unknown as WebhookEndpointEvent)).toBe(state);
  });
});

it('names the stream of an endpoint by its id, and back', () => {
  expect(webhookStream('0192f0c4-01')).toBe('webhook-0192f0c4-01');
  expect(endpointOf('webhook-0192f0c4-01')).toBe('0192f0c4-01');
  expect(endpointOf('machine-0192f0c4-01')).toBeNull();
});

import { expect, it } from '@jest/globals';
import { AUTOMATION_EVENTS, mayRecord, PERSON_ONLY_EVENTS, RECORDED_ACTORS } from './events.js';

const kindsThatMay = (type: string): readonly string[] => RECORDED_ACTORS.filter((kind) => mayRecord(kind, type));

it('lets nobody but a person admit, issue a token, delete, or give somebody access and take it away (O3)', () => {
  for (const type of [
    'MachineAdmitted',
    'MachineDeleted',
    'TokenIssued',
    'AutomationTokenIssued',
    'PersonRemoved',
    'MemberAdded',
    'DirectoryBound',
  ])
    expect(kindsThatMay(type)).toEqual(['person']);
  for (const type of PERSON_ONLY_EVENTS) expect(AUTOMATION_EVENTS).not.toContain(type);
});

it('lets automation look after webhooks, and forbids it what nobody has thought of yet (O3)', () => {
  expect(kindsThatMay('WebhookEndpointPaused')).toContain('automation');
  expect(kindsThatMay('SomethingNew')).toEqual(['person', 'machine', 'plane']);
});

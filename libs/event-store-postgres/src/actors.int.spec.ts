import { randomUUID } from 'node:crypto';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { mayRecord, RECORDED_ACTORS } from '@rollcall/authorisation';
import type { AppendItem } from '@rollcall/event-store';
import { Owner } from '../../../test/support/owner.js';
import { freshDatabase, type FreshDatabase } from '../../../test/support/postgres.js';
import { PostgresLog } from './index.js';

/** Every type of event there is, and one that nobody has thought of. */
const TYPES = [
  'SomethingNew',
  ...readdirSync(join(import.meta.dirname, '../../../docs/schemas')).flatMap((file) => file.split('.').at(-3) ?? []),
];

describe('who can bring an event about, where nobody but the database asks', () => {
  let database: FreshDatabase;
  let owner: Owner;
  let log: PostgresLog;
  beforeAll(async () => {
    database = await freshDatabase();
    owner = await Owner.connect(database.ownerUrl);
    log = new PostgresLog({ connectionString: database.url, applicationName: 'mine' });
  });
  afterAll(async () => {
    await log.close();
    await owner[Symbol.asyncDispose]();
    await database.drop();
  });

  const one = (type: string, kind: (typeof RECORDED_ACTORS)[number]): AppendItem => ({
    stream: `tally-${randomUUID()}`,
    expected: 0,
    fresh: true,
    revision: 1,
    fold: 1,
    state: '{}',
    events: [
      {
        revision: 1,
        commandId: randomUUID(),
        ordinal: 0,
        eventId: randomUUID(),
        type,
        actor: { kind, id: 'test' },
        body: '{}',
        trace: null,
      },
    ],
    checkIns: [],
    claims: [],
  });

  it('is what the rule says, for every type of event and every kind of actor (O3)', async () => {
    expect(TYPES).toContain('TokenIssued');
    for (const type of TYPES)
      for (const kind of RECORDED_ACTORS)
        expect([type, kind, await owner.value(`select actor_may_record('${type}', '${kind}:x')`)]).toEqual([
          type,
          kind,
          mayRecord(kind, type),
        ]);
  });

  it.each(['MachineAdmitted', 'MachineDeleted', 'TokenIssued', 'AutomationTokenIssued'])(
    'refuses %s from automation, a machine and the plane, and takes it from a person (O3)',
    async (type) => {
      for (const kind of ['automation', 'machine', 'plane'] as const)
        await expect(log.append([one(type, kind)])).rejects.toThrow('event_actor');
      expect((await log.append([one(type, 'person')])).outcomes).toEqual(['ok']);
    },
  );

  it('refuses automation what it was never meant for, of whatever name (O3)', async () => {
    await expect(log.append([one('SomethingNew', 'automation')])).rejects.toThrow('event_actor');
    expect((await log.append([one('WebhookEndpointPaused', 'automation')])).outcomes).toEqual(['ok']);
  });
});

import { randomBytes, randomUUID } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PostgresEventStore } from '@rollcall/event-store-postgres';
import { credentialKey, machine, machineStream } from '@rollcall/machine';
import { admit, check } from '@rollcall/machine/testing';
import { Follower, openReadModels, READ_MODELS } from '@rollcall/read-models';
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { Owner } from '../../../test/support/owner.js';
import { freshDatabase, testCluster, type FreshDatabase } from '../../../test/support/postgres.js';
import { eventually } from '../../../test/support/processes.js';
import { readAnswers, verify } from './index.js';
import { EXIT, run } from './run.js';

jest.setTimeout(120_000);

const actor = { kind: 'machine', id: 'test' } as const;

describe('the checker', () => {
  let healthy: FreshDatabase;
  const history: { checkId?: string; commandId?: string; revision: number; batch: string | null }[] = [];

  beforeAll(async () => {
    healthy = await freshDatabase();
    const store = await PostgresEventStore.connect({ connectionString: healthy.url });
    const database = openReadModels({ connectionString: healthy.url });
    const following = new AbortController();
    const log = { info: () => undefined, warn: () => undefined };
    const followers = READ_MODELS.map((model) => new Follower({ database, store, model, log }));
    const loops = followers.map((follower) => follower.run(following.signal));
    for (let index = 0; index < 5; index += 1) await live(store, index);
    const { number } = await store.newest();
    await eventually('the read models have caught up', () =>
      Promise.resolve(followers.every((follower) => follower.status().place?.checkpoint === number)),
    );
    following.abort();
    await Promise.all(loops);
    await store.close();
    await database.destroy();
  });
  afterAll(() => healthy.drop());

  /** The life of one machine: admitted, three checks, and every second one is deleted. */
  const live = async (store: PostgresEventStore, index: number) => {
    const machineId = randomUUID();
    const stream = machineStream(machineId);
    const keyHash = index.toString(16).padStart(64, '0');
    const token = { id: randomUUID(), expiresAt: Date.now() + 3_600_000, owner: 'person-1', name: null };
    const carryOut = async (command: Parameters<typeof machine.decide>[1]) => {
      const commandId = randomUUID();
      const { revision, batch } = await store.decide(machine, { stream }, command, { actor, commandId });
      history.push({ commandId, revision, batch: String(batch) });
    };
    await carryOut(admit({ machineId, keyHash, identifierHash: machineId, token }));
    for (let sequence = 1; sequence <= 3; sequence += 1) {
      const checkId = randomUUID();
      const accept = () =>
        store.decide(
          machine,
          { claim: credentialKey(keyHash) },
          check({ keyHash, sequence, checkId, name: `lab-${index}` }),
          { actor, commandId: null },
        );
      const { revision, batch } = await accept();
      history.push({ checkId, revision, batch: String(batch) });
      history.push({ checkId, revision, batch: (await accept()).batch === null ? null : 'twice' });
    }
    if (index % 2 === 0) await carryOut({ type: 'DeleteMachine' });
  };

  const answers = () => readAnswers(history.map((answer) => JSON.stringify(answer)).join('\n'));

  /** A copy of the healthy record, in the hands of somebody with no guard to stop him. */
  const inACopy = async <Result>(damage: string, work: (url: string) => Promise<Result>): Promise<Result> => {
    const name = `copy_${randomBytes(6).toString('hex')}`;
    await using admin = await Owner.connect(testCluster().url);
    await admin.rows('select pg_advisory_lock(55)');
    await admin.rows(`create database ${name} template ${new URL(healthy.url).pathname.slice(1)}`);
    const url = new URL(healthy.ownerUrl);
    url.pathname = `/${name}`;
    try {
      await using owner = await Owner.connect(url.toString());
      await owner.rows(`alter table batch disable trigger all; alter table event disable trigger all`);
      await owner.rows(`do $$ declare t regclass; begin
        for t in select inhrelid from pg_inherits where inhparent = 'check_in'::regclass union all select 'check_in'::regclass loop
          execute format('alter table %s disable trigger append_only', t);
        end loop; end $$`);
      await owner.rows(damage);
      return await work(url.toString());
    } finally {
      await admin.rows(`drop database ${name} with (force)`);
    }
  };

  it('finds nothing in a healthy record, with no more rights than the plane has (U10)', async () => {
    const verdict = await verify({ connectionString: healthy.url, answers: answers() });
    expect(verdict.findings.map(({ id, broken }) => [id, broken])).toEqual(
      ['I1', 'I2', 'I3', 'I4', 'I6', 'I7', 'I9'].map((id) => [id, []]),
    );
    expect(verdict.holds).toBe(true);
    expect(verdict.findings.every(({ examined }) => examined > 0)).toBe(true);
  });

  const newestOf = (table: string, order: string) =>
    `ctid = (select ctid from ${table} order by ${order} desc limit 1)`;
  it.each([
    [
      'an answered check is gone',
      'I1',
      `delete from check_in where ${newestOf('check_in', 'batch')}`,
      /^check .* was answered, and is not recorded$/,
    ],
    [
      'an answered command is gone',
      'I1',
      `delete from event where ${newestOf('event', 'position')}`,
      /^command .* was answered, and is not recorded$/,
    ],
    [
      'an answered check is there twice',
      'I1',
      `insert into check_in select * from check_in where batch = 4`,
      /recorded 2 times/,
    ],
    [
      'a check is in another batch than was answered',
      'I1',
      `update check_in set batch = batch + 1 where batch = 4`,
      /was answered with batch 4, and is in batch 5/,
    ],
    [
      'an event id is there twice',
      'I2',
      `alter table event drop constraint event_event_id_key; update event set event_id = (select event_id from event where position = 0) where position = 1`,
      /^event id .* occurs 2 times$/,
    ],
    [
      'a command was carried out twice',
      'I2',
      `alter table event drop constraint event_stream_command_id_ordinal_key; update event set command_id = (select command_id from event where position = 0), ordinal = 0 where position = 1`,
      /^command .* 2 times/,
    ],
    [
      'a check id is there twice',
      'I2',
      `update check_in set check_id = (select check_id from check_in order by batch limit 1)`,
      /^check .* occurs 15 times$/,
    ],
    ['a batch is missing', 'I3', 'delete from batch where number = 3', /^batch 3 is missing before batch 4$/],
    ['the first batch is missing', 'I3', 'delete from batch where number = 1', /^batch 1 is missing before batch 2$/],
    [
      'a position is missing',
      'I3',
      'update event set position = position + 100 where position >= 4',
      /^position 103 is missing before position 104$/,
    ],
    [
      'time went back',
      'I3',
      `update batch set recorded_at = recorded_at - interval '1 minute' where number = 5`,
      /^batch 5 is of .*, before the time/,
    ],
    [
      'a batch lost a fact',
      'I3',
      `update batch set events = events + 1 where number = 2`,
      /^batch 2 counted \d+ events and 1 checks, and holds/,
    ],
    [
      'facts have no batch',
      'I3',
      `update event set batch = 999 where position = 3`,
      /^batch 999 counted no events and no checks/,
    ],
    [
      'a revision is missing',
      'I4',
      'delete from check_in where batch = 2',
      /^machine-.* has \d+ facts with \d+ revisions from 1 to \d+$/,
    ],
    [
      'a revision is there twice',
      'I4',
      `update check_in set revision = revision - 1 where batch = 2`,
      /^machine-.* has (\d+) facts/,
    ],
    [
      'a head is ahead of the facts',
      'I4',
      `update stream_head set revision = revision + 1`,
      /^the head of machine-.* is at revision/,
    ],
    [
      'a read model has applied something else, or out of turn',
      'I6',
      `update read_model set trail = repeat('0', 64) where name = 'history'`,
      /^history has not applied the batches 1 to \d+ as they are recorded/,
    ],
    [
      'a read model has passed over a batch',
      'I6',
      `update read_model set checkpoint = checkpoint - 1 where name = 'presence'`,
      /^presence has not applied the batches/,
    ],
    [
      'a batch that was applied has another time now',
      'I6',
      `update batch set recorded_at = recorded_at + interval '1 millisecond' where number = 2`,
      /^presence has not applied the batches/,
    ],
    [
      'a read model is where the record has never been',
      'I6',
      `update read_model set checkpoint = checkpoint + 100 where name = 'history'`,
      /^history is at batch \d+, ahead of the record$/,
    ],
    [
      'a read model has another name for a machine',
      'I7',
      `update presence_machine set name = 'lab-x' where name = 'lab-1'`,
      /^presence lacks .*"lab-1"/,
    ],
    [
      'a read model has lost a line',
      'I7',
      `delete from history_line where ctid = (select ctid from history_line limit 1)`,
      /^history lacks/,
    ],
    [
      'a read model says of a machine what it never said',
      'I7',
      `insert into readiness_episode select machine, 2, 'disk-full', now(), null from readiness_machine limit 1`,
      /^readiness has, and should not: .*"disk-full"/,
    ],
    [
      'a read model is not where it says',
      'I7',
      `update read_model set checkpoint = checkpoint - 1 where name = 'presence'`,
      /^presence (lacks|has, and should not)/,
    ],
    [
      'a read model is ahead of the record',
      'I7',
      `update read_model set checkpoint = checkpoint + 100`,
      /ahead of the record/,
    ],
    [
      'a deleted machine has checked',
      'I9',
      `alter table event drop constraint event_stream_revision_key; update event set revision = 2 where type = 'MachineDeleted'`,
      /^machine-.* was deleted at revision 2, and has \d+ later facts/,
    ],
  ] as const)('finds that %s (%s)', async (_, id, damage, sentence) => {
    const verdict = await inACopy(damage, (connectionString) => verify({ connectionString, answers: answers() }));
    expect(verdict.holds).toBe(false);
    const found = verdict.findings.find((finding) => finding.id === id)?.broken ?? [];
    expect(found.find((each) => sentence.test(each)) ?? found).toEqual(expect.stringMatching(sentence));
  });

  const command = async (...argv: readonly string[]) => {
    const said = { out: '', err: '' };
    const code = await run(argv, { out: (text) => (said.out += text), err: (text) => (said.err += text) });
    return { code, ...said };
  };

  it('tells people and scripts, and ends with a code of its own for each case', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'rollcall-answers-'));
    const file = join(directory, 'answers.jsonl');
    await writeFile(file, history.map((answer) => JSON.stringify(answer)).join('\n'));
    expect(await command('--answers', file, healthy.url)).toMatchObject({
      code: EXIT.holds,
      out: expect.stringMatching(/I1 {2}holds {2}.*I9 {2}holds .*Everything holds\.\n$/s),
      err: '',
    });
    await rm(directory, { recursive: true });
    const broken = await inACopy('delete from batch where number = 3', (url) => command('--json', url));
    expect(broken.code).toBe(EXIT.broken);
    expect(JSON.parse(broken.out)).toMatchObject({
      holds: false,
      invariants: expect.arrayContaining([
        expect.objectContaining({ id: 'I3', offenders: expect.arrayContaining(['batch 3 is missing before batch 4']) }),
      ]),
    });
    expect(await command('--json', 'postgres://nobody@127.0.0.1:1/none')).toMatchObject({
      code: EXIT.unjudged,
      out: '',
    });
    expect(await command()).toMatchObject({ code: EXIT.unjudged, err: expect.stringContaining('Usage') });
    expect(await command('--data', '/nowhere')).toMatchObject({
      code: EXIT.unjudged,
      err: expect.stringContaining('No plane runs on /nowhere'),
    });
  });

  it.each(['{', '7', '{"checkId":"x"}', '{"commandId":"0192f0c4-0000-7000-8000-000000000001","revision":"1"}'])(
    'names the line of a history that it cannot read: %s',
    (line) => expect(() => readAnswers(`\n${line}`)).toThrow(/^Answers, line 2: /),
  );
});

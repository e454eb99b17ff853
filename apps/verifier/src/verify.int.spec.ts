import { randomBytes, randomUUID } from 'node:crypto';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PostgresEventStore } from '@rollcall/event-store-postgres';
import { credentialKey, machine, machineStream } from '@rollcall/machine';
import { admit, check } from '@rollcall/machine/testing';
import { Follower, openReadModels, READ_MODELS } from '@rollcall/read-models';
import { person, personStream } from '@rollcall/person';
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { Owner } from '../../../test/support/owner.js';
import { freshDatabase, testCluster, type FreshDatabase } from '../../../test/support/postgres.js';
import { eventually } from '../../../test/support/processes.js';
import { connect, type DatabaseClient } from './database-client.js';
import type { RecordDigest } from './digest-file.js';
import { INVARIANTS, readAnswers, verify } from './index.js';
import { onlyAdded } from './invariants/earlier.js';
import { digestsAt } from './record-digest.js';
import { EXIT, run } from './run.js';

jest.setTimeout(120_000);

const actor = { kind: 'person', id: 'test' } as const;

/** One of a person's acts becomes a token that was issued in a session. */
const SAID_IN_S1 = `update event set type = 'TokenIssued', body = jsonb_set(body::jsonb, '{session}', '"s1"')::text
  where position = (select max(position) from event where type = 'MachineDeleted')`;

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
    await carryOut(admit({ machineId, nodeId: machineId, keyHash, identifierHash: machineId, token }));
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
  const unguardedCopy = async (): Promise<AsyncDisposable & { readonly url: string }> => {
    const name = `copy_${randomBytes(6).toString('hex')}`;
    const url = new URL(healthy.ownerUrl);
    url.pathname = `/${name}`;
    const asAdmin = async (statement: string) => {
      await using admin = await Owner.connect(testCluster().url);
      await admin.rows('select pg_advisory_lock(55)');
      await admin.rows(statement);
    };
    await asAdmin(`create database ${name} template ${new URL(healthy.url).pathname.slice(1)}`);
    await using owner = await Owner.connect(url.toString());
    await owner.rows(`alter table batch disable trigger all; alter table event disable trigger all`);
    await owner.rows(`do $$ declare t regclass; begin
      for t in select inhrelid from pg_inherits where inhparent = 'check_in'::regclass union all select 'check_in'::regclass loop
        execute format('alter table %s disable trigger append_only', t);
      end loop; end $$`);
    return { url: url.toString(), [Symbol.asyncDispose]: () => asAdmin(`drop database ${name} with (force)`) };
  };
  const inACopy = async <Result>(damage: string, work: (url: string) => Promise<Result>): Promise<Result> => {
    await using copy = await unguardedCopy();
    await using owner = await Owner.connect(copy.url);
    await owner.rows(damage);
    return await work(copy.url);
  };

  it('finds nothing in a healthy record, with no more rights than the plane has (U10)', async () => {
    const verdict = await verify({ connectionString: healthy.url, answers: answers() });
    expect(verdict.findings.map(({ id, broken }) => [id, broken])).toEqual(
      ['I1', 'I2', 'I3', 'I4', 'I5', 'I6', 'I7', 'I8', 'I9', 'I12', 'I14'].map((id) => [id, []]),
    );
    expect(verdict.holds).toBe(true);
    // Nobody was absent in it; absences have a record of their own.
    expect(verdict.findings.every(({ id, examined }) => examined > 0 || id === 'I14')).toBe(true);
  });

  const newestOf = (table: string, order: string) =>
    `ctid = (select ctid from ${table} order by ${order} desc limit 1)`;
  const DAMAGES = [
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
      'a generation was left out',
      'I8',
      `update event set body = jsonb_set(body::jsonb, '{generation}', '7')::text where type = 'GenerationRegistered'`,
      /^machine-.* has GenerationRegistered of generation 7 at revision \d+, after nothing and with 0 the highest$/,
    ],
    [
      'a generation was promoted by nothing',
      'I8',
      `update check_in set generation = 2`,
      /^machine-.* confirmed generation 1 at revision \d+, and nothing in its batch used it$/,
    ],
    [
      'a machine has checked by another generation than its current one',
      'I8',
      `update check_in set generation = 3 where ${newestOf('check_in', 'batch')}`,
      /^machine-.* has 1 checks by generation 3 while 1 is the current one, the first at revision \d+$/,
    ],
    [
      'a deleted machine has checked',
      'I9',
      `alter table event drop constraint event_stream_revision_key; update event set revision = 2 where type = 'MachineDeleted'`,
      /^machine-.* was deleted at revision 2, and has \d+ later facts/,
    ],
    [
      'automation has deleted a machine',
      'I12',
      `alter table event drop constraint event_actor; update event set actor = 'automation:a1' where type = 'MachineDeleted'`,
      /^MachineDeleted at position \d+ was brought about by automation:a1, and only a person may$/,
    ],
    [
      'automation has done what it is not for',
      'I12',
      `alter table event drop constraint event_actor; update event set actor = 'automation:a1' where type = 'AgentStarted'`,
      /^AgentStarted at position \d+ was brought about by automation:a1, and automation may not$/,
    ],
    [
      'one token has admitted several machines',
      'I12',
      `update event set body = jsonb_set(body::jsonb, '{token}', '"t1"')::text where type = 'MachineAdmitted'`,
      /^token t1 admitted 5 machines$/,
    ],
    [
      'a token was issued in no session of its person',
      'I12',
      SAID_IN_S1,
      /^TokenIssued at position \d+ was said in no session of its person$/,
    ],
    [
      'a token was issued in a session that had begun too long before',
      'I12',
      `${SAID_IN_S1};
       update event e set type = 'SessionStarted', stream = 'person-' || split_part(e.actor, ':', 2), body = jsonb_build_object('sessionId',
         's1', 'authenticatedAt', b.recorded_at - interval '961 seconds')::text
       from batch b where b.number = e.batch and e.position = (select min(position) from event where type = 'MachineAdmitted')`,
      /^TokenIssued at position \d+ was said in a session that had begun \d{3,} s before$/,
    ],
    [
      'a token was issued in a session of which nobody knows when its person showed who they are',
      'I12',
      `${SAID_IN_S1};
       update event set type = 'SessionStarted', stream = 'person-' || split_part(actor, ':', 2), body = '{"sessionId":"s1"}'
       where position = (select min(position) from event where type = 'MachineAdmitted')`,
      /^TokenIssued at position \d+ was said in a session that is never fresh$/,
    ],
  ] as const;
  describe('asked about one promise', () => {
    let copy: Awaited<ReturnType<typeof unguardedCopy>>;
    let client: DatabaseClient;
    beforeAll(async () => {
      copy = await unguardedCopy();
      client = await connect(copy.url);
    });
    afterAll(async () => {
      await client.close();
      await copy[Symbol.asyncDispose]();
    });

    // In the transaction that did it, and that takes it back: a copy of the record for each damage would cost a minute.
    it.each(DAMAGES)('finds that %s (%s)', async (_, id, damage, sentence) => {
      const { rows } = client;
      await rows('begin');
      try {
        await rows(damage);
        const { broken } = await INVARIANTS.find((invariant) => invariant.id === id)!.judge({
          rows,
          connectionString: copy.url,
          now: { epoch: '', batch: 0n, digest: '' },
          digests: new Map(),
          earlier: [],
          answers: answers(),
          gapSeconds: 15,
          freshSeconds: 900,
        });
        expect(broken.find((each) => sentence.test(each)) ?? broken).toEqual(expect.stringMatching(sentence));
      } finally {
        await rows('rollback');
      }
    });
  });

  // Read models are read by connections of their own.
  it.each([
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
  ] as const)('finds that %s (%s)', async (_, id, damage, sentence) => {
    const verdict = await inACopy(damage, (connectionString) => verify({ connectionString, answers: answers() }));
    expect(verdict.holds).toBe(false);
    const found = verdict.findings.find((finding) => finding.id === id)?.broken ?? [];
    expect(found.find((each) => sentence.test(each)) ?? found).toEqual(expect.stringMatching(sentence));
  });

  const CHANGES: readonly (readonly [what: string, how: string])[] = [
    ['a body has changed', `update event set body = replace(body, 'person-1', 'person-2') where position = 0`],
    ['an actor has changed', `update event set actor = 'person:eve' where position = 1`],
    ['a trace has changed', `update event set trace = '00-1-1-00' where position = 1`],
    ['a check-in is gone', `delete from check_in where batch = 4; update batch set checks = 0 where number = 4`],
    ['an event is gone', `delete from event where position = 2; update batch set events = events - 1 where number = 2`],
    [
      'two events have changed places',
      `update event set position = -1 where position = 1; update event set position = 1 where position = 2;
       update event set position = 2 where position = -1`,
    ],
    [
      'a batch has another time',
      `update batch set recorded_at = recorded_at + interval '1 millisecond' where number = 2`,
    ],
    [
      'a check has another time',
      `update check_in set recorded_at = recorded_at + interval '1 millisecond' where batch = 4`,
    ],
    ['a check said something else', `update check_in set said = 1 where batch = 4`],
    ['a check is of another batch', `update check_in set batch = 999 where batch = 4`],
    [
      'a check was slipped in',
      `insert into check_in select (c).* from (select check_in as c from check_in where batch = 4) d`,
    ],
    [
      'something claims to be from before the first batch',
      `insert into event select 100, -1, stream, 100, gen_random_uuid(), 0, gen_random_uuid(), type, at, actor, body, trace
       from event where position = 0`,
    ],
    ['a mark is gone', `delete from batch where number = (select max(number) from batch)`],
  ];
  it('finds each kind of change to what is older than a digest: of a row, of its place, of their number (I5)', async () => {
    const { digest } = await verify({ connectionString: healthy.url });
    await inACopy('select 1', async (connectionString) => {
      await using owner = await Owner.connect(connectionString);
      await owner.rows(`set TimeZone = 'UTC'`);
      const digestNow = async () =>
        (await digestsAt((...query) => owner.rows(...query), [digest.batch])).get(digest.batch);
      const unseen: string[] = [];
      for (const [what, how] of CHANGES) {
        await owner.rows('begin');
        await owner.rows(how);
        if ((await digestNow()) === digest.digest) unseen.push(what);
        await owner.rows('rollback');
      }
      expect(unseen).toEqual([]);
      expect(await digestNow()).toBe(digest.digest);
    });
  });

  it('takes growth for no change, from any earlier dump on, across pages of the dump (I5)', async () => {
    await inACopy('select 1', async (connectionString) => {
      const earlier = [(await verify({ connectionString })).digest];
      const store = await PostgresEventStore.connect({ connectionString });
      for (let more = 0; more < 3; more += 1) {
        for (let mark = 0; mark < 70; mark += 1) await store.mark(0);
        await store.decide(
          person,
          { stream: personStream(randomUUID()) },
          { type: 'RegisterPerson', name: 'Eve' },
          { actor },
        );
        const verdict = await verify({ connectionString, earlier });
        expect(verdict.findings.find(({ id }) => id === 'I5')).toMatchObject({
          examined: earlier.length + 1,
          broken: [],
        });
        earlier.push(verdict.digest);
      }
      await store.close();
      expect(earlier.map(({ batch }) => batch - earlier[0]!.batch)).toEqual([0n, 71n, 142n, 213n]);
      expect(new Set(earlier.map(({ digest }) => digest)).size).toBe(4);
    });
  });

  it('finds a change behind its back, while it judges a record that grows (I5)', async () => {
    await inACopy('select 1', async (connectionString) => {
      await using owner = await Owner.connect(connectionString);
      const { rows, close } = await connect(connectionString);
      await rows('begin isolation level repeatable read');
      const { digest: now } = await verify({ connectionString });
      const digests = await digestsAt(rows, [now.batch]);
      expect(digests.get(now.batch)).toBe(now.digest);
      const subject = {
        rows,
        connectionString,
        now,
        digests,
        earlier: [],
        answers: [],
        gapSeconds: 15,
        freshSeconds: 900,
      };
      await owner.rows(`insert into batch values (${now.batch + 1n}, now(), 0, 0)`);
      expect((await onlyAdded.judge(subject)).broken).toEqual([]);
      await owner.rows(`update event set actor = 'person:eve' where position = 1`);
      expect((await onlyAdded.judge(subject)).broken).toEqual([
        `the record up to batch ${now.batch} has changed while it was judged`,
      ]);
      // In the snapshot everything is as it was.
      expect(await digestsAt(rows, [now.batch])).toEqual(digests);
      await close();
    });
  });

  it('says where a record ends that once went on, and that it was restored in between (I5)', async () => {
    const { digest } = await verify({ connectionString: healthy.url });
    const ahead = { ...digest, batch: digest.batch + 5n };
    const broken = async (...earlier: RecordDigest[]) =>
      (await verify({ connectionString: healthy.url, earlier })).findings.find(({ id }) => id === 'I5')?.broken;
    const ends = `the record ends at batch ${digest.batch}, and once went on to batch ${ahead.batch}`;
    expect(await broken(ahead, digest)).toEqual([ends]);
    expect(await broken({ ...ahead, epoch: randomUUID() })).toEqual([
      `${ends}; the record began a new epoch in between, as after a restore`,
    ]);
    // A restore that lost nothing is no change.
    expect(await broken({ ...digest, epoch: randomUUID() })).toEqual([]);
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
      out: expect.stringMatching(/I1 {2}holds {2}.*I9 {2}holds .*I12 holds .*I14 holds .*Everything holds\.\n$/s),
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
    for (const seconds of ['x', '', '0', '-1', 'Infinity'])
      expect(await command(`--gap-seconds=${seconds}`, healthy.url)).toEqual({
        code: EXIT.unjudged,
        out: '',
        err: `rollcall-verify: --gap-seconds is no number of seconds: ${seconds}\n`,
      });
    expect(await command('--data', '/nowhere')).toMatchObject({
      code: EXIT.unjudged,
      err: expect.stringContaining('No plane runs on /nowhere'),
    });
  });

  it('writes down what the record is and compares with it later, but never over what a change has broken (I5)', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'rollcall-digest-'));
    const file = join(directory, 'last.json');
    expect(await command('--save-digest', file, healthy.url)).toMatchObject({ code: EXIT.holds, err: '' });
    const saved = await readFile(file, 'utf8');
    expect(JSON.parse(saved)).toEqual({
      format: 'rollcall record digest 1',
      epoch: expect.stringMatching(/^[0-9a-f-]{36}$/),
      batch: expect.stringMatching(/^\d+$/),
      digest: expect.stringMatching(/^[0-9a-f]{64}$/),
    });
    const again = ['--earlier', file, '--earlier', file, '--save-digest', file] as const;
    expect(await command(...again, '--json', healthy.url)).toMatchObject({
      code: EXIT.holds,
      out: expect.stringContaining('{"id":"I5",'),
    });
    const tampered = await inACopy(`update event set actor = 'person:eve' where position = 1`, (url) =>
      command(...again, url),
    );
    expect(tampered).toMatchObject({
      code: EXIT.broken,
      out: expect.stringMatching(/I5 {2}BROKEN .*\n {6}- the record up to batch \d+ is not what it was/),
      err: `rollcall-verify: no digest was written to ${file}, because I5 is broken\n`,
    });
    expect(await readFile(file, 'utf8')).toBe(saved);
    for (const text of [
      '',
      '{}',
      saved.replace('digest 1', 'digest 2'),
      saved.replace(/"batch":"\d+"/, '"batch":"x"'),
    ]) {
      await writeFile(file, text);
      expect(await command('--earlier', file, healthy.url)).toMatchObject({
        code: EXIT.unjudged,
        err: `rollcall-verify: ${file} holds no digest of a record\n`,
      });
    }
    expect(await command('--earlier', join(directory, 'none'), healthy.url)).toMatchObject({ code: EXIT.unjudged });
    await rm(directory, { recursive: true });
  });

  it.each(['{', '7', '{"checkId":"x"}', '{"commandId":"0192f0c4-0000-7000-8000-000000000001","revision":"1"}'])(
    'names the line of a history that it cannot read: %s',
    (line) => expect(() => readAnswers(`\n${line}`)).toThrow(/^Answers, line 2: /),
  );
});

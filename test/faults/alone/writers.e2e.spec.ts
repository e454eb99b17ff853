import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { LogBackedStore, type Batch } from '@rollcall/event-store';
import { PostgresLog } from '@rollcall/event-store-postgres';
import { tally } from '@rollcall/event-store/testing';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { bundled, type Bundled } from '../../support/bundled.js';
import { Owner } from '../../support/owner.js';
import { freshDatabase, type FreshDatabase } from '../../support/postgres.js';
import { eventually, Processes, type Running } from '../../support/processes.js';
import type { Task, Told } from '../programs/writer.js';

jest.setTimeout(240_000);

const actor = { kind: 'person', id: 'test' } as const;

describe('writers in processes of their own', () => {
  let program: Bundled;
  let database: FreshDatabase;
  let owner: Owner;
  let processes: Processes;

  /** What a failing test would leave reading. */
  const following: { end(): Promise<void> }[] = [];

  beforeAll(async () => {
    program = await bundled(join(import.meta.dirname, '../programs/writer.ts'));
  });
  afterAll(async () => {
    await program[Symbol.asyncDispose]();
  });
  beforeEach(async () => {
    database = await freshDatabase();
    owner = await Owner.connect(database.ownerUrl);
    processes = new Processes();
  });
  afterEach(async () => {
    await Promise.all(following.splice(0).map((reader) => reader.end()));
    await processes.close();
    await owner[Symbol.asyncDispose]();
    await database.drop();
  });

  const start = (task: Omit<Task, 'url'>): Promise<Running> =>
    processes.start(task.name, process.execPath, [
      program.path,
      JSON.stringify({ ...task, url: database.url } satisfies Task),
    ]);
  const answersOf = (writer: Running): Told[] =>
    writer
      .stdout()
      .split('\n')
      .filter((line) => line.startsWith('{'))
      .map((line) => JSON.parse(line) as Told);
  const openStore = (applicationName: string) =>
    new LogBackedStore(new PostgresLog({ connectionString: database.url, applicationName }));

  it('20 of them in 3 processes, with delays, refusals and killed connections: readers apply exactly what was committed, once (C22, rows 3, 19, U1)', async () => {
    const readers = [follow(openStore('reader1'), 50), follow(openStore('reader2'), 50)];
    following.push(...readers);
    const writers = await Promise.all(
      [7, 7, 6].map((count, index) =>
        start({ name: `process${index}`, seed: 7 + index, work: 'mixture', writers: count, commands: 60 }),
      ),
    );
    const ended = Promise.all(writers.map((writer) => writer.exited));
    const over = new AbortController();
    void ended.then(() => over.abort());
    let killed = 0;
    while (!over.signal.aborted) {
      // Each time two sessions of anybody's: writers in the middle of an append, readers between two queries.
      const victims = [...(await owner.sessions('process% writer', 'active')), ...(await owner.sessions('reader%'))];
      const chosen = victims
        .filter((_, index) => (index + killed) % Math.max(1, Math.floor(victims.length / 2)) === 0)
        .slice(0, 2);
      await owner.terminate(chosen);
      killed += chosen.length;
      await wait(150);
    }
    expect((await ended).map(({ code }) => code)).toEqual([0, 0, 0]);
    expect(killed).toBeGreaterThan(5);

    const last = await owner.value<string>('select max(number) from batch');
    const applied = await Promise.all(readers.map((reader) => reader.until(BigInt(last))));
    const committed = (
      await owner.rows<{ id: string }>(
        'select event_id::text as id from event union all select check_id::text from check_in',
      )
    ).map(({ id }) => id);
    expect(committed.length).toBeGreaterThan(1_000);
    for (const ids of applied) {
      expect(new Set(ids).size).toBe(ids.length); // 0 applied twice
      expect(ids.toSorted()).toEqual(committed.toSorted()); // 0 missing, none invented
    }

    // Who was told "recorded" or "repeated" finds it there exactly once; who was refused finds nothing.
    const answers = writers.flatMap(answersOf);
    const rows = new Map(
      (
        await owner.rows<{ id: string; times: number }>(
          `select id, count(*)::integer as times from (
             select command_id::text as id from event where ordinal = 0 union all select check_id::text from check_in) facts group by id`,
        )
      ).map(({ id, times }) => [id, times]),
    );
    expect(answers.filter(({ id, told }) => (rows.get(id) ?? 0) !== (told === 'refused' ? 0 : 1))).toEqual([]);
    expect(answers.filter(({ told }) => told === 'refused').length).toBeGreaterThan(10);

    // And so says the checker, which is given what the callers were told.
    const history = join(await mkdtemp(join(tmpdir(), 'rollcall-answers-')), 'answers.jsonl');
    const lines = answers.flatMap(({ told, kind, id, revision, batch }) =>
      told === 'refused' ? [] : [JSON.stringify({ [kind === 'check' ? 'checkId' : 'commandId']: id, revision, batch })],
    );
    await writeFile(history, lines.join('\n'));
    const script = join(import.meta.dirname, '../../../dist/apps/verifier/rollcall-verify.mjs');
    const verdict = await processes.run('verify', process.execPath, [
      script,
      '--json',
      '--answers',
      history,
      database.url,
    ]);
    await rm(dirname(history), { recursive: true });
    expect(verdict.output).toMatch(/"holds":true/);
    expect(verdict.code).toBe(0);
  });

  it('two of them, 1,000 conflicting appends: one winner per revision (row 6, U9)', async () => {
    const racers = await Promise.all(
      [0, 1].map((index) => start({ name: `racer${index}`, seed: index, work: 'race', writers: 5, commands: 100 })),
    );
    expect(await Promise.all(racers.map(({ exited }) => exited))).toEqual(
      racers.map(() => ({ code: 0, signal: null })),
    );
    const answers = racers.flatMap(answersOf);
    expect(answers).toHaveLength(1_000);
    const won = answers.filter(({ told }) => told !== 'refused').map(({ revision }) => revision);
    const rows = await owner.rows<{ revision: number }>(
      `select revision from event where stream = 'tally-race' order by revision`,
    );
    expect(rows.map(({ revision }) => revision)).toEqual(rows.map((_, index) => index + 1));
    expect(rows).toHaveLength(won.length);
    expect(won.length).toBeLessThan(1_000); // They did get into each other's way.
    const store = openStore('judge');
    expect((await store.view(tally, { stream: 'tally-race' }))?.state.total).toBe(won.length);
    await store.close();
  });

  it('one that is stopped in the middle of an append delays nobody, and finds its own append when it goes on (row 4)', async () => {
    // The append of the one to be stopped takes 30 ms longer while it holds the record, so that it is met there.
    await owner.rows(`
      create function linger() returns trigger language plpgsql as $$ begin perform pg_sleep(0.03); return new; end $$;
      create trigger linger before insert on batch for each row
        when (current_setting('application_name') = 'stopped writer') execute function linger()`);
    const stopped = await start({ name: 'stopped', seed: 1, work: 'stream', writers: 1, commands: 0 });
    await stopped.waitFor(/recorded/);
    const others = openStore('others');
    const waits: number[] = [];
    for (let round = 0; round < 8; round += 1) {
      await eventually('the writer is in the middle of an append', async () => {
        const inside = await owner.rows(
          `select from pg_stat_activity where datname = current_database() and application_name = 'stopped writer' and wait_event = 'PgSleep'`,
        );
        if (inside.length > 0) stopped.signal('SIGSTOP');
        return inside.length > 0;
      });
      // Longer than the writer's own patience with a call (1 s) in half of the rounds: it goes on with an outcome that it does not know.
      const until = performance.now() + (round % 2 === 0 ? 1_200 : 200);
      while (performance.now() < until) {
        const from = performance.now();
        await others.decide(
          tally,
          { stream: `tally-other-${waits.length % 10}` },
          { type: 'Add', amount: 1 },
          { actor },
        );
        waits.push(performance.now() - from);
      }
      const before = answersOf(stopped).length;
      stopped.signal('SIGCONT');
      await eventually('it goes on', () => Promise.resolve(answersOf(stopped).length > before + 2));
    }
    expect(await stopped.stop()).toEqual({ code: 0, signal: null });
    await others.close();

    waits.sort((a, b) => a - b);
    // Whoever waited for a stopped neighbour would wait until the database has ended its transaction, after ten seconds.
    expect(waits.length).toBeGreaterThan(50);
    expect(waits[Math.floor(waits.length * 0.95)]).toBeLessThan(500);
    expect(waits.at(-1)).toBeLessThan(3_000);
    const answers = answersOf(stopped);
    const rows = await owner.rows<{ id: string }>(
      `select command_id::text as id from event where stream like 'tally-stopped-%'`,
    );
    expect(rows.map(({ id }) => id).toSorted()).toEqual(answers.map(({ id }) => id).toSorted());
    expect(answers.filter(({ told }) => told === 'repeated').length).toBeGreaterThan(0);
  });

  /** Follows the record from the start, as a reader does: polls, and moves its checkpoint behind what it has applied. */
  const follow = (store: LogBackedStore, everyMs: number) => {
    const applied: string[] = [];
    let checkpoint = 0n;
    const idsOf = ({ facts }: Batch) =>
      facts.map((fact) => (fact.kind === 'event' ? fact.eventId : fact.checkIn.checkId));
    const step = async () => {
      const batches = await store.readBatches(checkpoint, 50);
      applied.push(...batches.flatMap(idsOf));
      checkpoint = batches.at(-1)?.number ?? checkpoint;
    };
    let failure: unknown = null;
    const reading = new AbortController();
    const loop = (async () => {
      while (!reading.signal.aborted) {
        // A killed connection is the reader's own trouble: it looks again from where it stands. A hole is not.
        await step().catch((error: Error) => {
          if (/hole|facts, but was recorded/.test(error.message)) failure = error;
        });
        await wait(everyMs);
      }
    })();
    const end = async () => {
      reading.abort();
      await loop;
      await store.close();
    };
    return {
      end,
      until: async (last: bigint) => {
        await eventually('the reader has caught up', () => Promise.resolve(checkpoint >= last || failure !== null));
        await end();
        if (failure !== null) throw failure;
        return applied;
      },
    };
  };
});

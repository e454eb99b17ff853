import { randomUUID } from 'node:crypto';
import { LogBackedStore } from '@rollcall/event-store';
import { credentialKey, machine, machineStream } from '@rollcall/machine';
import { admit, check } from '@rollcall/machine/testing';
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { amount, inDigits } from '../../../test/support/amount.js';
import { Owner } from '../../../test/support/owner.js';
import { freshDatabase, testCluster, type FreshDatabase } from '../../../test/support/postgres.js';
import { eventually } from '../../../test/support/processes.js';
import { TcpProxy } from '../../../test/support/tcp-proxy.js';
import { PostgresLog } from './index.js';

jest.setTimeout(300_000);

/** Each of the four failpoints inside the call 20 times at least. */
const RUNS = amount({ usual: 288, whole: 1_000 });
const LANES = 8;
const actor = { kind: 'person', id: 'test' } as const;

/** The name of the prepared statement, as a message that binds its parameters carries it. */
const CALL_OF_APPEND = '\0append\0';

/** Where the connection breaks: before the call, at one of the failpoints inside it, or after the commit and before the answer. */
const POINTS = ['before', 'batch', 'event', 'check_in', 'stream_head', 'after'] as const;
type Point = (typeof POINTS)[number];
const pointOf = (run: number): Point => {
  if (run % 3 === 0) return 'before';
  if (run % 3 === 1) return POINTS[1 + (Math.floor(run / 3) % 4)] as Point;
  return 'after';
};

describe('a connection that breaks around the commit of a check with its row, its head and two events', () => {
  let database: FreshDatabase;
  let owner: Owner;

  beforeAll(async () => {
    database = await freshDatabase();
    owner = await Owner.connect(database.ownerUrl);
    // A failpoint ends its own session, once per time that it is armed. The sequence remembers, because it is never rolled back.
    await owner.rows(`
      create table failpoint (lane text primary key, place text not null);
      create function fail_here() returns trigger language plpgsql as $$
      declare v_lane text := split_part(current_setting('application_name'), ' ', 1); begin
        if exists (select from failpoint where lane = v_lane and place = tg_table_name or (lane = v_lane and place = split_part(tg_table_name, '_2', 1)))
          and nextval('armed_' || v_lane) = 2 then
          perform pg_terminate_backend(pg_backend_pid());
        end if;
        return null;
      end $$;
      create trigger fail_here after insert on batch for each row execute function fail_here();
      create trigger fail_here after insert on event for each row execute function fail_here();
      create trigger fail_here after insert on check_in for each row execute function fail_here();
      create trigger fail_here after update on stream_head for each row execute function fail_here();
      grant select on failpoint to public`);
  });
  afterAll(async () => {
    await owner[Symbol.asyncDispose]();
    await database.drop();
  });

  it(`is recorded exactly once or not at all, ${inDigits(RUNS)} times over three points of failure (C23, U1)`, async () => {
    const lanes = await Promise.all(Array.from({ length: LANES }, (_, lane) => runLane(`lane${lane}`, RUNS / LANES)));
    const results = lanes.flat();
    expect(results).toHaveLength(RUNS);
    // Within a second; a busy machine may be late for a few.
    const goneAfter = results.map((result) => result.goneAfter).toSorted((a, b) => a - b);
    expect(goneAfter[Math.floor(RUNS * 0.95)]).toBeLessThan(1_000);
    // Whoever broke the connection was answered nothing but the truth: recorded by this call, or found to be recorded already.
    for (const { point, batch } of results) {
      if (point === 'after') expect(batch).toBeNull();
      else expect(batch).not.toBeNull();
    }

    // Row, events and head agree: a first check is one row, its two events, three revisions on top of the two of the admission.
    const machines = await owner.rows(`
      select m.stream, h.revision, (select count(*)::integer from check_in c where 'machine-' || c.machine = m.stream) as rows,
        (select string_agg(e.type, ' ' order by e.revision) from event e where e.stream = m.stream) as events
      from event m join stream_head h on h.stream = m.stream where m.type = 'MachineAdmitted'`);
    expect(machines).toHaveLength(RUNS);
    expect(
      machines.filter(
        ({ revision, rows, events }) =>
          revision !== 5 ||
          rows !== 1 ||
          events !== 'MachineAdmitted GenerationRegistered GenerationConfirmed AgentStarted',
      ),
    ).toEqual([]);
    expect(
      await owner.value('select count(distinct event_id) = count(*) and max(position) + 1 = count(*) from event'),
    ).toBe(true);
    expect(await owner.value('select max(number) = count(*) from batch')).toBe(true);
    expect(await owner.value('select count(distinct check_id)::integer from check_in')).toBe(RUNS);
  });

  const runLane = async (lane: string, runs: number) => {
    const { port } = testCluster();
    await using proxy = await TcpProxy.listen({ host: '127.0.0.1', port });
    await using hand = await Owner.connect(database.ownerUrl);
    await hand.rows(`create sequence armed_${lane}; grant usage on sequence armed_${lane} to public;
      insert into failpoint values ('${lane}', 'nowhere')`);
    await hand.rows(`select setval('armed_${lane}', 2)`);
    const troubles: string[] = [];
    const log = new PostgresLog({ connectionString: proxy.through(database.url), applicationName: lane });
    const store = new LogBackedStore(log, { onTrouble: (error) => troubles.push(String(error)), deadlineMs: 20_000 });
    const results: { readonly point: Point; readonly batch: bigint | null; readonly goneAfter: number }[] = [];
    try {
      for (let run = 0; run < runs; run += 1) {
        const machineId = randomUUID();
        const keyHash = machineId.replaceAll('-', '').padStart(64, '0');
        await store.decide(
          machine,
          { stream: machineStream(machineId) },
          admit({
            machineId,
            keyHash,
            identifierHash: machineId,
            token: { id: machineId, expiresAt: Date.now() + 3_600_000, owner: 'person-1', name: null },
          }),
          { actor },
        );
        const checkId = randomUUID();
        const accept = () =>
          store.decide(machine, { claim: credentialKey(keyHash) }, check({ keyHash, checkId }), {
            actor,
            commandId: null,
          });

        const point = pointOf(run);
        const pid = await log.writerProcessId();
        troubles.length = 0;
        let decision;
        if (point === 'before') {
          await hand.terminate([pid]);
          decision = await accept();
        } else if (point === 'after') {
          const lost = proxy.loseAnswerTo(CALL_OF_APPEND);
          [decision] = await Promise.all([accept(), lost]);
        } else {
          await hand.rows('update failpoint set place = $2 where lane = $1', [lane, point]);
          await hand.rows(`select setval('armed_${lane}', 1)`);
          decision = await accept();
        }
        const brokenAt = performance.now();
        expect(decision).toMatchObject({ repeated: point === 'after', revision: 5 });
        // An outcome that nobody knew was found out on another connection; the session before may have ended on its own.
        if (point !== 'before') expect(troubles.join()).toMatch(/OutcomeUnknown/);
        expect(await log.writerProcessId()).not.toBe(pid);
        await eventually(
          'the broken connection is gone',
          async () => !(await hand.sessions(`${lane} writer`)).includes(pid),
        );
        results.push({ point, batch: decision.batch, goneAfter: performance.now() - brokenAt });
        // The agent's own retry changes nothing.
        if (run % 10 === 0) expect(await accept()).toMatchObject({ repeated: true, batch: null, revision: 5 });
        // Now and then the readers lose theirs as well.
        if (run % 25 === 0) await hand.terminate(await hand.sessions(`${lane} reader`));
      }
      await inTurn(() => everySlotWorks(hand, log, lane));
    } finally {
      await store.close();
    }
    return results;
  };

  /** One lane after the other: eighty connections at once are more than a busy machine opens in time. */
  let turn: Promise<void> = Promise.resolve();
  const inTurn = (work: () => Promise<void>): Promise<void> => (turn = turn.then(work));

  /** Ten reads at once that all have to wait: each must get a connection of its own, and then its answer. */
  const everySlotWorks = async (hand: Owner, log: PostgresLog, lane: string) => {
    await using watcher = await Owner.connect(database.ownerUrl);
    const areInUse = async () => (await watcher.sessions(`${lane} reader`, 'active')).length === 10;
    const told: unknown[] = [];
    // The readers wait for a lock no longer than 2 s, in which a busy machine may not have opened all of them.
    for (let attempt = 0; attempt < 5 && told.length === 0; attempt += 1) {
      await hand.rows('begin; lock table claim in access exclusive mode');
      const reads = Promise.allSettled(Array.from({ length: 10 }, () => log.holders(['badge:1'])));
      const inUse = await eventually('ten of ten slots are in use', areInUse, 1_900).then(
        () => true,
        () => false,
      );
      await hand.rows('rollback');
      const answers = (await reads).flatMap((each) => (each.status === 'fulfilled' ? [each.value] : []));
      if (inUse && answers.length === 10) told.push(...answers);
    }
    expect(told).toEqual(Array.from({ length: 10 }, () => [null]));
  };
});

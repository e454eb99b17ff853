import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { LogBackedStore } from '@rollcall/event-store';
import { InMemoryLog, interruptible } from '@rollcall/event-store/testing';
import { SystemClock } from '@rollcall/lifetimes';
import { machine, machineStream, type MachineCommand } from '@rollcall/machine';
import { admit, boot, check, checkIdOf } from '@rollcall/machine/testing';
import { sql } from 'kysely';
import { Owner } from '../../../../test/support/owner.js';
import { freshDatabase, type FreshDatabase } from '../../../../test/support/postgres.js';
import { eventually } from '../../../../test/support/processes.js';
import {
  absenceModel,
  AbsenceWatch,
  Follower,
  openReadModels,
  presenceModel,
  type ReadModelDatabase,
} from '../index.js';
import { ReadModelQueries } from '../read-model-queries.js';
import { SilenceClock } from './silence-clock.js';
import { takeDueQuery } from './watch.js';

let fresh: FreshDatabase;
let database: ReadModelDatabase;

beforeAll(async () => {
  fresh = await freshDatabase();
  database = openReadModels({ connectionString: fresh.url, connections: 10 });
});
afterAll(async () => {
  await database.destroy();
  await fresh.drop();
});
beforeEach(async () => {
  await sql`truncate read_model, read_model_gap, read_model_parked, presence_machine, absence_due`.execute(database);
});

const NOON = Date.UTC(2026, 0, 1, 12);
const QUIET = { info: () => undefined, warn: () => undefined };
const idOf = (n: number): string => `0192f0c4-0000-7000-8000-${n.toString(16).padStart(12, '0')}`;
const hashOf = (n: number): string => n.toString(16).padStart(64, '0');

/** A plane on a clock of the test's, with read models on PostgreSQL that follow it while the test lets them. */
class Plane implements AsyncDisposable {
  now = NOON;
  readonly gate = interruptible(new InMemoryLog(() => this.now));
  readonly store = new LogBackedStore(this.gate.log);
  readonly #sequences = new Map<number, number>();
  readonly #stop = new AbortController();
  readonly #running: readonly Promise<void>[];

  constructor(models = [absenceModel]) {
    this.#running = models.map((model) =>
      new Follower({ database, store: this.store, model, log: QUIET, lookEvery: 10 }).run(this.#stop.signal),
    );
  }

  /** An instance that sweeps when it is told to. */
  watch(): AbsenceWatch {
    return new AbsenceWatch({ database, store: new LogBackedStore(this.gate.log), log: QUIET });
  }

  async admit(n: number): Promise<void> {
    await this.do(
      n,
      admit({
        machineId: idOf(n),
        keyHash: hashOf(n),
        identifierHash: `identifier-${n}`,
        token: { id: `token-${n}`, expiresAt: NOON + 3_600_000, owner: 'person-1', name: null },
      }),
    );
  }

  async check(n: number, over: Parameters<typeof check>[0] = {}): Promise<void> {
    const sequence = (this.#sequences.get(n) ?? 0) + 1;
    this.#sequences.set(n, sequence);
    await this.do(n, check({ keyHash: hashOf(n), sequence, checkId: checkIdOf(boot(n), sequence), ...over }));
  }

  async do(n: number, command: MachineCommand): Promise<void> {
    const actor = { kind: 'person', id: idOf(n) } as const;
    await this.store.decide(machine, { stream: machineStream(idOf(n)) }, command, { actor });
  }

  /** Time goes by while the plane listens: a mark every five seconds, and who is named checks in each time that half a minute is over. */
  async listen(seconds: number, ...honest: readonly number[]): Promise<void> {
    for (let second = 1; second <= seconds; second += 1) {
      this.now += 1_000;
      if (second % 30 === 0) await Promise.all(honest.map((n) => this.check(n)));
      if (second % 5 === 0 || second === seconds) await this.store.mark(0);
    }
    await this.applied();
  }

  async applied(): Promise<void> {
    await eventually('what is recorded is applied', async () => {
      const status = await new ReadModelQueries(database, this.store).status();
      return status.length > 0 && status.every(({ lagBatches }) => lagBatches === '0');
    });
  }

  /** The types of a machine's newest events, oldest first. */
  async silences(n: number): Promise<readonly string[]> {
    const facts = await this.store.readStream(machineStream(idOf(n)));
    return facts.flatMap((fact) =>
      fact.kind === 'event' && /^(WentAbsent|Returned)$/.test(fact.event.type) ? [fact.event.type] : [],
    );
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort();
    await Promise.all(this.#running);
  }
}

/** Rests after a sweep for moments only, and counts how often. */
class HastyClock extends SystemClock {
  rests = 0;

  override sleep(ms: number, signal?: AbortSignal): Promise<void> {
    this.rests += 1;
    return super.sleep(Math.min(ms, 5), signal);
  }
}

const due = async (): Promise<readonly string[]> =>
  (await database.selectFrom('absence_due').select('machine').orderBy('machine').execute()).map(
    ({ machine: id }) => id,
  );

/** Sweeps until there is nothing left to look at. */
const sweepAll = async (watch: AbsenceWatch): Promise<void> => {
  while ((await watch.sweep()) > 0);
};

describe('the absence watch', () => {
  it('records a silence once it is longer than the window, with the time at which it was, and its end (O22)', async () => {
    await using plane = new Plane();
    const watch = plane.watch();
    await plane.admit(1);
    await plane.check(1);
    await plane.listen(120);
    await sweepAll(watch);
    expect(await plane.silences(1)).toEqual([]);
    await plane.listen(1);
    await sweepAll(watch);
    expect(await plane.silences(1)).toEqual(['WentAbsent']);
    const facts = await plane.store.readStream(machineStream(idOf(1)));
    expect(facts.at(-1)).toMatchObject({
      event: { lastCheckAt: '2026-01-01T12:00:00.000Z', dueAt: '2026-01-01T12:02:00.000Z', stopReason: null },
      actor: { kind: 'plane' },
    });

    await plane.listen(600);
    await sweepAll(watch);
    expect(await plane.silences(1)).toEqual(['WentAbsent']);
    expect(await due()).toEqual([]);

    await plane.check(1);
    await plane.listen(30, 1);
    await sweepAll(watch);
    expect(await plane.silences(1)).toEqual(['WentAbsent', 'Returned']);
    await plane.listen(121);
    await sweepAll(watch);
    expect(await plane.silences(1)).toEqual(['WentAbsent', 'Returned', 'WentAbsent']);
    expect(watch.status()).toMatchObject({ recorded: 2, failure: null });
  });

  it('records once what an instance decides that was stopped in the middle of a sweep, and that is resumed a minute later (C27)', async () => {
    await using plane = new Plane([absenceModel, presenceModel]);
    const [stopped, other] = [plane.watch(), plane.watch()];
    await plane.admit(1);
    await plane.check(1);
    await plane.listen(121);
    // Between its decision and its append the first instance stands still; the others see what it had taken a few seconds later.
    let seenMeanwhile: readonly string[] = [];
    plane.gate.before(async () => {
      await plane.listen(6);
      await sweepAll(other);
      seenMeanwhile = await plane.silences(1);
      await plane.check(1);
      await plane.listen(60, 1);
      await sweepAll(other);
    });
    await stopped.sweep();
    await plane.listen(30, 1);
    await Promise.all([sweepAll(stopped), sweepAll(other)]);
    expect(seenMeanwhile).toEqual(['WentAbsent']);
    expect(await plane.silences(1)).toEqual(['WentAbsent', 'Returned']);
    expect(await due()).toEqual([idOf(1)]);
    await plane.applied();
    const [row] = await database.selectFrom('presence_machine').select('absent_since').execute();
    expect(row?.absent_since).toBeNull();
    expect(stopped.status().recorded).toBe(0);
  });

  it('lets a check that comes between its decision and its append win (O22, C27)', async () => {
    await using plane = new Plane();
    const watch = plane.watch();
    await plane.admit(1);
    await plane.check(1);
    await plane.listen(121);
    plane.gate.before(() => plane.check(1));
    await sweepAll(watch);
    expect(await plane.silences(1)).toEqual([]);
  });

  it('records each of 300 silences once, on three instances at once, and none of 700 others (C27)', async () => {
    await using plane = new Plane();
    const watches = [plane.watch(), plane.watch(), plane.watch()];
    const all = Array.from({ length: 1_000 }, (_, n) => n);
    await Promise.all(all.map((n) => plane.admit(n)));
    await Promise.all(all.map((n) => plane.check(n)));
    await plane.listen(121, ...all.slice(300));
    await Promise.all(watches.map(sweepAll));
    const silences = await Promise.all(all.map((n) => plane.silences(n)));
    expect(silences.filter((of) => of.length === 1)).toHaveLength(300);
    expect(silences.slice(300).flat()).toEqual([]);
    expect(watches.reduce((sum, watch) => sum + watch.status().recorded, 0)).toBe(300);
  });

  it('gives everybody a full window after a time in which the plane was deaf (B1)', async () => {
    await using plane = new Plane();
    const watch = plane.watch();
    await plane.admit(1);
    await plane.check(1);
    await plane.listen(60);
    plane.now += 600_000;
    await plane.store.mark(0);
    await plane.listen(120);
    await sweepAll(watch);
    expect(await plane.silences(1)).toEqual([]);
    await plane.listen(1);
    await sweepAll(watch);
    expect(await plane.silences(1)).toEqual(['WentAbsent']);
  });

  it('calls nobody absent while no check can be recorded, however much others record meanwhile (B1)', async () => {
    await using plane = new Plane();
    const watch = plane.watch();
    await plane.admit(1);
    await plane.check(1);
    await plane.listen(60);
    for (let passed = 0; passed < 130; passed += 10) {
      plane.now += 10_000;
      await plane.do(1, { type: 'RenameMachine', name: `box ${passed}` });
    }
    await plane.applied();
    await sweepAll(watch);
    expect(await plane.silences(1)).toEqual([]);
    // The first mark ends the gap, and everybody has a full window from there on.
    await plane.store.mark(0);
    await plane.listen(120);
    await sweepAll(watch);
    expect(await plane.silences(1)).toEqual([]);
    await plane.listen(1);
    await sweepAll(watch);
    expect(await plane.silences(1)).toEqual(['WentAbsent']);
  });

  it('calls nobody absent who was heard while the watch itself stood still (B1)', async () => {
    const plane = new Plane();
    const watch = plane.watch();
    await plane.admit(1);
    await plane.check(1);
    await plane.listen(30, 1);
    await plane[Symbol.asyncDispose]();
    for (let minute = 0; minute < 10; minute += 1) {
      plane.now += 30_000;
      await plane.check(1);
    }
    await sweepAll(watch);
    const model = new Follower({ database, store: plane.store, model: absenceModel, log: QUIET, batchesAtOnce: 1 });
    const over = new AbortController();
    const running = model.run(over.signal);
    // While it catches up, batch by batch, and afterwards.
    const sweeping = watch.run(over.signal);
    await plane.applied();
    await sweepAll(watch);
    over.abort();
    await Promise.all([running, sweeping]);
    expect(await plane.silences(1)).toEqual([]);
  });

  it('looks at a machine once per window and not once per check', async () => {
    await using plane = new Plane();
    const watch = plane.watch();
    await plane.admit(1);
    await plane.check(1);
    for (let minute = 0; minute < 20; minute += 1) {
      await plane.listen(60, 1);
      await sweepAll(watch);
    }
    // One after its start, and then at most one in two minutes.
    expect(watch.status().looks).toBeGreaterThan(5);
    expect(watch.status().looks).toBeLessThanOrEqual(12);
  });

  it('is not late where a window has become shorter since the last look (C10)', async () => {
    await using plane = new Plane();
    const watch = plane.watch();
    await plane.admit(1);
    await plane.check(1, { policy: { interval: 300, windowFloor: 120 } });
    await plane.listen(1);
    await sweepAll(watch);
    // The plane asks for more again, and the machine shows that it knows.
    await plane.check(1, { chain: 1 });
    await plane.check(1, { chain: 2 });
    await plane.listen(121);
    await sweepAll(watch);
    expect(await plane.silences(1)).toEqual(['WentAbsent']);
  });

  it('knows who is watched from the record alone, after a rebuild as before (U7)', async () => {
    await using plane = new Plane();
    const watch = plane.watch();
    for (const n of [1, 2, 3, 4]) await plane.admit(n);
    for (const n of [1, 2, 3]) await plane.check(n);
    await plane.do(2, { type: 'DeleteMachine' });
    await plane.listen(121, 1);
    await sweepAll(watch);
    expect(await plane.silences(3)).toEqual(['WentAbsent']);
    await plane.applied();
    expect(await due()).toEqual([idOf(1)]);
    await new ReadModelQueries(database, plane.store).requestRebuild('absence');
    await eventually('it is rebuilt', async () => (await due()).join() === idOf(1));
    await plane.listen(5);
    await sweepAll(watch);
    expect(await plane.silences(1)).toEqual([]);
  });

  it('looks at nobody while who is watched is being made anew', async () => {
    await using plane = new Plane();
    await plane.admit(1);
    await plane.check(1);
    await plane.listen(60);
    const rebuiltUntil = (batch: string) => database.updateTable('read_model').set({ rebuild_until: batch }).execute();
    await rebuiltUntil('1000');
    expect(await plane.watch().sweep()).toBe(0);
    await rebuiltUntil('0');
    expect(await plane.watch().sweep()).toBe(1);
  });

  it('goes on after the record was away, and says so once', async () => {
    await using plane = new Plane();
    const said: string[] = [];
    const log = {
      info: (_: object, text: string) => said.push(text),
      warn: (_: object, text: string) => said.push(text),
    };
    await plane.admit(1);
    await plane.check(1);
    await plane.listen(121);
    let away = true;
    const store = new LogBackedStore(plane.gate.log);
    const decide: typeof store.decide = (...args) =>
      away ? Promise.reject(new Error('The record is away')) : store.decide(...args);
    const watch = new AbsenceWatch({ database, store: { decide }, log, sweepEvery: 5 });
    const over = new AbortController();
    const running = watch.run(over.signal);
    await eventually('it has failed', () => Promise.resolve(watch.status().failure !== null));
    away = false;
    await plane.listen(6);
    await eventually('it is recorded', async () => (await plane.silences(1)).length === 1);
    await eventually('it says so', () => Promise.resolve(watch.status().failure === null));
    over.abort();
    await running;
    expect(said).toEqual(['cannot watch for absences; trying again', 'watching for absences again']);
  });

  it('says once that one machine cannot be looked at, for as long as it cannot, and records the silence of the others meanwhile', async () => {
    await using plane = new Plane();
    const said: string[] = [];
    const log = {
      info: (_: object, text: string) => said.push(text),
      warn: (_: object, text: string) => said.push(text),
    };
    for (const n of [1, 2]) {
      await plane.admit(n);
      await plane.check(n);
    }
    await plane.listen(121);
    let isBad = true;
    const store = new LogBackedStore(plane.gate.log);
    const decide: typeof store.decide = (decider, target, ...rest) =>
      isBad && 'stream' in target && target.stream === machineStream(idOf(1))
        ? Promise.reject(new Error('Its facts cannot be folded'))
        : store.decide(decider, target, ...rest);
    const clock = new HastyClock();
    const watch = new AbsenceWatch({ database, store: { decide }, log, sweepEvery: 5, clock });
    const over = new AbortController();
    const running = watch.run(over.signal);
    await eventually('the other silence is recorded', async () => (await plane.silences(2)).length === 1);
    const { rests } = clock;
    // The record stands still, so nobody is due: that is no proof that all is well.
    await eventually('it has swept in vain', () => Promise.resolve(clock.rests > rests + 3));
    expect(watch.status().failure).toBe('Its facts cannot be folded');
    await plane.listen(6);
    await eventually('it has looked once more', () => Promise.resolve(watch.status().looks === 3));
    expect(said).toEqual(['cannot watch for absences; trying again']);
    isBad = false;
    await plane.listen(6);
    await eventually('all is well', () => Promise.resolve(watch.status().failure === null));
    expect(await plane.silences(1)).toEqual(['WentAbsent']);
    expect(said.slice(1)).toEqual(['watching for absences again']);
    over.abort();
    await running;
  });

  it('leaves its trouble to the instance that watches after it', async () => {
    await using plane = new Plane();
    await plane.admit(1);
    await plane.check(1);
    await plane.listen(121);
    const decide = () => Promise.reject(new Error('The record is away'));
    const watch = new AbsenceWatch({ database, store: { decide }, log: QUIET, sweepEvery: 5 });
    const over = new AbortController();
    const running = watch.run(over.signal);
    await eventually('it has failed', () => Promise.resolve(watch.status().failure !== null));
    over.abort();
    await running;
    expect(watch.status().failure).toBeNull();
  });
});

describe('a sweep', () => {
  it('of 1,000,000 machines of which none is due reads a handful of pages and no machine’s row', async () => {
    await sql`insert into read_model (name, heard_until) values ('absence', '2026-01-01T12:00:00Z')`.execute(database);
    await sql`insert into absence_due select lpad(n::text, 7, '0'), '2026-01-01T12:00:00Z'::timestamptz + n * interval '1 millisecond'
      from generate_series(0, 999999) n`.execute(database);
    await sql`analyze absence_due`.execute(database);
    const [plan] = (
      await sql<{ 'QUERY PLAN': string }>`explain (analyze, buffers, format json) ${takeDueQuery(500)}`.execute(
        database,
      )
    ).rows;
    const text = JSON.stringify(plan);
    const [{ Plan: root }] = plan!['QUERY PLAN'] as unknown as [{ Plan: PlanNode }];
    const nodes = [...nodesOf(root)];
    const read = nodes.filter(
      (node) => node['Relation Name'] === 'absence_due' || node['Index Name']?.startsWith('absence_due'),
    );
    expect(read.length).toBeGreaterThan(0);
    expect(read.filter((node) => node['Actual Rows'] !== 0)).toEqual([]);
    expect(nodes.filter((node) => node['Node Type'] === 'Seq Scan').map((node) => node['Relation Name'])).not.toContain(
      'absence_due',
    );
    expect(text).not.toMatch(/presence_machine|stream_head/);
    expect((root['Shared Hit Blocks'] ?? 0) + (root['Shared Read Blocks'] ?? 0)).toBeLessThan(20);
    await sql`truncate absence_due`.execute(database);
  });
});

describe('the silence clock', () => {
  it('tells that somebody is due by the database’s clock', async () => {
    const clock = new SilenceClock(database);
    expect(await clock.isDue()).toBe(false);
    await sql`insert into absence_due values ('1', clock_timestamp() + interval '1 hour')`.execute(database);
    expect(await clock.isDue()).toBe(false);
    await sql`insert into absence_due values ('2', clock_timestamp())`.execute(database);
    expect(await clock.isDue()).toBe(true);
  });

  it('is not told again of who was due before the newest ear: that has been heard of, whether or not anybody has looked', async () => {
    await using owner = await Owner.connect(fresh.ownerUrl);
    await owner.rows(`insert into absence_due values ('3', clock_timestamp())`);
    const clock = new SilenceClock(database);
    expect(await clock.isDue()).toBe(true);
    const append = (number: number, events: number) =>
      owner.rows(
        `insert into batch (number, recorded_at, events, checks) values ($1, clock_timestamp() + interval '1 second', $2, 0)`,
        [number, events],
      );
    await append(1, 1);
    expect(await clock.isDue()).toBe(true);
    await append(2, 0);
    expect(await clock.isDue()).toBe(false);
  });
});

type PlanNode = {
  readonly 'Node Type': string;
  readonly 'Relation Name'?: string;
  readonly 'Index Name'?: string;
  readonly 'Actual Rows': number;
  readonly 'Shared Hit Blocks'?: number;
  readonly 'Shared Read Blocks'?: number;
  readonly Plans?: readonly PlanNode[];
};

function* nodesOf(node: PlanNode): Generator<PlanNode> {
  yield node;
  for (const child of node.Plans ?? []) yield* nodesOf(child);
}

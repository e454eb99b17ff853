import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { build } from 'esbuild';
import { PostgresEventStore } from '@rollcall/event-store-postgres';
import {
  MachineQueries,
  openReadModels,
  READ_MODELS,
  ReadModelQueries,
  type ReadModelDatabase,
} from '@rollcall/read-models';
import { dumpTables, MemoryReadModels, randomFrom, runWorkload } from '@rollcall/read-models/testing';
import { mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { amount, inDigits } from '../../../test/support/amount.js';
import { freshDatabase, type FreshDatabase } from '../../../test/support/postgres.js';
import { eventually, Processes, type Running } from '../../../test/support/processes.js';

const ROOT = join(import.meta.dirname, '../../..');
const SEED = Number(process.env['ROLLCALL_SEED'] ?? 20_261_129);
const FACTS = amount({ usual: 15_000, whole: 50_000 });
// Short, so that a busy test machine makes gaps of its own.
const GAP_SECONDS = 0.05;

let fresh: FreshDatabase;
let database: ReadModelDatabase;
let store: PostgresEventStore;
let bundle: string;

beforeAll(async () => {
  fresh = await freshDatabase();
  database = openReadModels({ connectionString: fresh.url });
  store = await PostgresEventStore.connect({ connectionString: fresh.url });
  // Inside the checkout, so that the packages are found.
  bundle = await mkdtemp(join(ROOT, 'node_modules/.projector-'));
  await build({
    entryPoints: [join(import.meta.dirname, 'main.ts')],
    outfile: join(bundle, 'main.mjs'),
    bundle: true,
    platform: 'node',
    format: 'esm',
    conditions: ['source'],
    plugins: [
      {
        name: 'packages-stay-outside',
        setup: ({ onResolve }) =>
          onResolve({ filter: /^[^./]/ }, ({ path, kind }) =>
            kind === 'entry-point' || path.startsWith('@rollcall/') ? null : { path, external: true },
          ),
      },
    ],
  });
});
afterAll(async () => {
  await store.close();
  await database.destroy();
  await fresh.drop();
  await rm(bundle, { recursive: true });
});

const startProjector = (processes: Processes): Promise<Running> =>
  processes.start('projector', process.execPath, [join(bundle, 'main.mjs')], {
    cwd: ROOT,
    env: {
      ROLLCALL_DATABASE_URL: fresh.url,
      ROLLCALL_PROJECTOR_PORT: '0',
      ROLLCALL_GAP_SECONDS: String(GAP_SECONDS),
      ROLLCALL_LOG_LEVEL: 'warn',
    },
  });

/** The sum of the checkpoints: any progress shows in it. */
const progress = async (): Promise<bigint> => {
  const rows = await database.selectFrom('read_model').select(['checkpoint']).execute();
  return rows.reduce((sum, { checkpoint }) => sum + BigInt(checkpoint), 0n);
};

const settled = (): Promise<void> =>
  eventually(
    'the read models are where the record is',
    async () => {
      const status = await new ReadModelQueries(database, store).status();
      return status.every(({ lagBatches, rebuilding }) => lagBatches === '0' && !rebuilding);
    },
    // What was killed again and again has all of it still to do.
    180_000,
  );

it(`makes the same rows live, rebuilt and in memory out of ${inDigits(FACTS)} facts, killed at random points, seed ${SEED} (U7, C02)`, async () => {
  await using processes = new Processes();
  const random = randomFrom(SEED + 1);
  const killWhen = async (what: string, reached: (progress: bigint) => boolean): Promise<void> => {
    const projector = await startProjector(processes);
    await eventually(what, async () => reached(await progress()), 180_000);
    projector.signal('SIGKILL');
    await projector.exited;
  };

  const writing = runWorkload(store, { seed: SEED, facts: FACTS, machines: 500 });
  const writer = { done: false };
  void writing.then(
    () => (writer.done = true),
    () => (writer.done = true),
  );
  let kills = 0;
  while (!writer.done && kills < 4) {
    const target = (await progress()) + BigInt(1 + random.below(120));
    await killWhen('some progress', (now) => now >= target);
    kills += 1;
  }
  const report = await writing;
  let projector = await startProjector(processes);
  await settled();
  await projector.stop('SIGTERM', 60_000);
  const live = await dumpTables(database);

  const models = new MemoryReadModels(GAP_SECONDS);
  for (let after = 0n; ;) {
    const batches = await store.readBatches(after, 500);
    if (batches.length === 0) break;
    models.apply(batches);
    after = batches.at(-1)!.number;
  }
  const folded = models.dump();

  for (const { name } of READ_MODELS) await new ReadModelQueries(database, store).requestRebuild(name);
  const whole = await progress();
  await killWhen('the rebuild has begun', (now) => now < whole);
  for (let kill = 0; kill < 2; kill += 1) {
    // A read model that has not begun anew yet still counts as it was, so what there is to come has an end.
    const wanted = (await progress()) + BigInt(random.below(Math.floor(Number(whole) / 4)));
    const target = wanted < whole / 2n ? wanted : whole / 2n;
    await killWhen('a part is rebuilt', (now) => now >= target);
  }
  projector = await startProjector(processes);
  await settled();
  await projector.stop('SIGTERM', 60_000);
  const rebuilt = await dumpTables(database);

  // Not `toBe`: a difference of megabytes is told by its first line.
  expect(firstDifference(live, folded)).toBeNull();
  expect(firstDifference(rebuilt, folded)).toBeNull();
  expect(kills).toBeGreaterThan(0);
  expect(report.facts).toBeGreaterThanOrEqual(FACTS);
  expect(report.refusals).toBeGreaterThan(FACTS / 100);
  expect((await new MachineQueries(database, store).list({ limit: 500 })).machines.length).toBeGreaterThan(400);
}, 400_000);

const firstDifference = (one: string, other: string): { one: string | undefined; other: string | undefined } | null => {
  if (one === other) return null;
  const [left, right] = [one.split('\n'), other.split('\n')];
  const at = left.findIndex((line, index) => line !== right[index]);
  return { one: left[at], other: right[at] };
};

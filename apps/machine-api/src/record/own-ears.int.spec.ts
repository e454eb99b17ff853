import { expect, it } from '@jest/globals';
import { PostgresEventStore } from '@rollcall/event-store-postgres';
import { Lifetime } from '@rollcall/lifetimes';
import { ManualClock } from '@rollcall/lifetimes/testing';
import { recordingLogger } from '@rollcall/nest-platform/testing';
import { absenceModel, AbsenceWatch, Follower, openReadModels, SilenceClock } from '@rollcall/read-models';
import { ClockedFleet } from '../../../../test/support/clocked-fleet.js';
import { Owner } from '../../../../test/support/owner.js';
import { freshDatabase } from '../../../../test/support/postgres.js';
import { eventually } from '../../../../test/support/processes.js';
import { RecordClock } from '../../../../test/support/record-clock.js';
import { keepOwnEars } from './own-ears.js';
import { RecordEpoch } from './record-epoch.js';

const QUIET = { info: () => undefined, warn: () => undefined };
const SIZE = 20;

it('makes an absence an event within two seconds of its line on an idle record, though marks are five seconds apart (O22, B1)', async () => {
  await using opened = new AsyncDisposableStack();
  const fresh = await freshDatabase();
  opened.defer(() => fresh.drop());
  const recordClock = opened.use(await RecordClock.of(fresh));
  const store = await PostgresEventStore.connect({ connectionString: fresh.url, deadlineMs: 60_000 });
  opened.defer(() => store.close());
  // The clock of the test is found before the server's, by the silence clock as by the record.
  const connectionString = `${fresh.url}?options=${encodeURIComponent('-c search_path=public,pg_catalog')}`;
  const readModels = openReadModels({ connectionString, connections: 6 });
  opened.defer(() => readModels.destroy());
  const lifetime = new Lifetime();
  opened.defer(() => lifetime.end());

  const follower = new Follower({ database: readModels, store, model: absenceModel, log: QUIET, lookEvery: 5 });
  lifetime.run((signal) => follower.run(signal));
  const watch = new AbsenceWatch({ database: readModels, store, log: QUIET });
  const keepUp = async () => {
    const { number } = await store.newest();
    await eventually('it is applied', () => Promise.resolve(follower.status().place?.checkpoint === number));
    while ((await watch.sweep()) > 0);
  };
  const fleet = await ClockedFleet.of({ store, clock: recordClock, owner: 'ada', size: SIZE, keepUp });
  await fleet.live(60);

  const clock = new ManualClock();
  const { logger } = recordingLogger();
  const ears = { store, silences: new SilenceClock(readModels), epoch: await RecordEpoch.of(store), clock, logger };
  lifetime.run((signal) => keepOwnEars({ ...ears, markMs: 5_000 }, signal));
  await clock.whenAsleep();
  for (let passed = 0; passed < 150_000; passed += 500) {
    await recordClock.pass(0.5);
    await clock.advance(500);
    await clock.whenAsleep();
    await keepUp();
  }

  await using owner = await Owner.connect(fresh.ownerUrl);
  const late = await owner.rows<{ seconds: number }>(
    `select extract(epoch from b.recorded_at - (e.body::jsonb ->> 'dueAt')::timestamptz)::float8 as seconds
     from event e join batch b on b.number = e.batch where e.type = 'WentAbsent'`,
  );
  expect(late).toHaveLength(SIZE);
  expect(Math.max(...late.map(({ seconds }) => seconds))).toBeLessThan(2);
});

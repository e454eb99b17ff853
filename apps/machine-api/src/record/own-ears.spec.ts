import { expect, it } from '@jest/globals';
import { InMemoryEventStore } from '@rollcall/event-store/testing';
import { Lifetime } from '@rollcall/lifetimes';
import { ManualClock } from '@rollcall/lifetimes/testing';
import { recordingLogger } from '@rollcall/nest-platform/testing';
import { keepOwnEars } from './own-ears.js';
import { RecordEpoch } from './record-epoch.js';

const listening = async (silences = { isDue: () => Promise.resolve(false) }) => {
  const clock = new ManualClock();
  const store = new InMemoryEventStore({ now: () => clock.wall() });
  const log = recordingLogger();
  const epoch = await RecordEpoch.of(store);
  const lifetime = new Lifetime();
  lifetime.run((signal) => keepOwnEars({ store, silences, epoch, clock, logger: log.logger, markMs: 5_000 }, signal));
  await clock.whenAsleep();
  return { clock, store, epoch, log, lifetime };
};

it('marks an idle record often enough that two ears are never 15 s apart, and ends with its owner (B1)', async () => {
  const { clock, store, lifetime } = await listening();
  await clock.advance(60_000);
  const batches = await store.readBatches(0n, 100);
  const apart = batches.slice(1).map(({ recordedAt }, index) => recordedAt - (batches[index]?.recordedAt ?? 0));
  expect(batches.length).toBeGreaterThan(5);
  expect(Math.max(...apart)).toBeLessThanOrEqual(7_500);
  await lifetime.end();
  expect(clock.sleeping).toBe(0);
});

it('goes on when the record cannot be reached, and says so once (B1)', async () => {
  const { clock, store, log, lifetime } = await listening();
  const mark = store.mark.bind(store);
  store.mark = () => Promise.reject(new Error('away'));
  await clock.advance(30_000);
  store.mark = mark;
  await clock.advance(10_000);
  expect(log.lines().map(({ level, msg }) => [level, msg])).toEqual([
    ['warn', 'the record cannot be reached'],
    ['info', 'the record can be reached again'],
  ]);
  expect((await store.readBatches(0n, 100)).length).toBeGreaterThan(0);
  await lifetime.end();
});

it('learns of a new epoch while it runs', async () => {
  const { clock, store, epoch, lifetime } = await listening();
  store.renewEpoch();
  await clock.advance(15_000);
  expect(epoch.current).toBe(await store.epoch());
  await lifetime.end();
});

it('marks at once where a silence becomes due, however short the record has been idle, and not again and again (B1)', async () => {
  let due = false;
  const { clock, store, lifetime } = await listening({ isDue: () => Promise.resolve(due) });
  await clock.advance(10_000);
  const before = (await store.newest()).number;
  due = true;
  await clock.advance(1_000);
  const [after] = await store.readBatches(before, 1);
  expect(after?.facts).toEqual([]);
  expect((await store.newest()).number - before).toBeLessThanOrEqual(2n);
  await lifetime.end();
});

it('keeps listening where nobody can say whether a silence is due (B1)', async () => {
  const { clock, store, log, lifetime } = await listening({ isDue: () => Promise.reject(new Error('locked')) });
  await clock.advance(30_000);
  expect((await store.readBatches(0n, 100)).length).toBeGreaterThanOrEqual(4);
  expect(log.lines()).toEqual([]);
  await lifetime.end();
});

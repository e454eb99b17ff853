import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { admitted, checkedIn } from '@rollcall/machine/testing';
import { freshDatabase, type FreshDatabase } from '../../../../test/support/postgres.js';
import { applyBatches, type Place } from '../apply.js';
import { openReadModels, presenceModel, type ReadModelDatabase } from '../index.js';
import { RecordBuilder } from '../testing/index.js';
import { ChangeQueries, type ChangeNews } from './changes.js';
import { changePlaceText, readChangePlace, type ChangePlace } from './change-place.js';

const M = '0192f0c4-0000-7000-8000-000000000001';
const OWNER = 'ada';

let fresh: FreshDatabase;
let database: ReadModelDatabase;
beforeAll(async () => {
  fresh = await freshDatabase();
  database = openReadModels({ connectionString: fresh.url });
});
afterAll(async () => {
  await database.destroy();
  await fresh.drop();
});

/** Applies what was recorded after a place to the read model. */
const apply = async (record: RecordBuilder, place: Place): Promise<Place> => {
  const next = await applyBatches(database, presenceModel, place, record.batches(), 15);
  if (!next) throw new Error('overtaken');
  return next;
};
const placeOf = (news: ChangeNews): ChangePlace => {
  if (news.kind === 'nothing-yet') throw new Error('there is nothing yet');
  return news.place;
};
const told = (news: ChangeNews) => (news.kind === 'changes' ? news.changes.map(({ place }) => place.batch) : news.kind);

it('tells from a place on what comes after it, and while it is made anew nothing until it has come there again (U3, U7)', async () => {
  const record = new RecordBuilder(Date.now() - 60_000).mark().record(M, admitted({ owner: OWNER }));
  const queries = new ChangeQueries(database, record);
  const nothing: Place = { epoch: await record.epoch(), checkpoint: 0n, heardUntil: null, gapEnd: null, trail: '' };
  await database.updateTable('read_model').set({ epoch: nothing.epoch }).where('name', '=', 'presence').execute();
  expect(told(await queries.next(OWNER, null))).toBe('nothing-yet');
  const first = await apply(record, nothing);
  const snapshot = await queries.next(OWNER, null);
  expect(told(snapshot)).toBe('snapshot');
  record.after(1).record(M, checkedIn()).after(1).record(M, checkedIn()).after(1).mark();
  await apply(record, first);
  const news = await queries.next(OWNER, placeOf(snapshot));
  expect(told(news)).toEqual([3n]);
  // What is nobody's news moves the place, too.
  const place = placeOf(news);
  expect([place.batch, place.machine]).toEqual([5n, null]);

  const model = database.updateTable('read_model').where('name', '=', 'presence');
  await database.transaction().execute((transaction) => presenceModel.clear(transaction));
  await model.set({ checkpoint: '0', heard_until: null, trail: '', rebuild_until: '5' }).execute();
  const half = new RecordBuilder(record.now);
  for (const batch of record.batches().slice(0, 3)) half.push(batch);
  const second = await apply(half, nothing);
  const meanwhile = await queries.next(OWNER, place);
  expect([told(meanwhile), placeOf(meanwhile)]).toEqual([[], place]);
  expect(told(await queries.next(OWNER, null))).toBe('nothing-yet');
  record.after(1).record(M, checkedIn({ said: 'stopping', reason: 'person' }));
  await apply(record, second);
  expect(told(await queries.next(OWNER, place))).toEqual([6n]);
});

it('reads a place from the id of an event, and nothing from anything else', () => {
  const place = { epoch: '0192f0c4-0000-7000-8000-000000000009', batch: 12n, at: 1_700_000_000_000, machine: M };
  expect(readChangePlace(changePlaceText(place))).toEqual(place);
  expect(readChangePlace(changePlaceText({ ...place, machine: null }))).toEqual({ ...place, machine: null });
  for (const text of ['', '1', 'a.b.c', 'a.1', `a.${'9'.repeat(30)}.1`, "a.1.1.' or true"])
    expect(readChangePlace(text)).toBeNull();
});

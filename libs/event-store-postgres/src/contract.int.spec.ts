import { afterAll, beforeAll } from '@jest/globals';
import { describeEventStoreContract, twoStores } from '@rollcall/event-store/contract';
import { Owner } from '../../../test/support/owner.js';
import { freshDatabase, type FreshDatabase } from '../../../test/support/postgres.js';
import { PostgresLog } from './index.js';

let database: FreshDatabase;
let owner: Owner;

beforeAll(async () => {
  database = await freshDatabase();
  owner = await Owner.connect(database.ownerUrl);
  // The record is emptied between two tests, which takes a second less than another database for each. What its guards refuse is tested elsewhere.
  await owner.rows(`do $$ declare t regclass; begin
    for t in select tgrelid::regclass from pg_trigger where tgname = 'append_only' loop
      execute format('alter table %s disable trigger append_only', t);
    end loop; end $$`);
});
afterAll(async () => {
  await owner[Symbol.asyncDispose]();
  await database.drop();
});

describeEventStoreContract('the store on Postgres', () => {
  const stores = twoStores(
    new PostgresLog({ connectionString: database.url }),
    new PostgresLog({ connectionString: database.url }),
  );
  return Promise.resolve({
    ...stores,
    dropHeads: async () => void (await owner.rows('delete from stream_head')),
    close: async () => {
      await stores.close();
      // Quicker than to truncate all partitions.
      for (const table of ['batch', 'event', 'check_in', 'stream_head', 'claim'])
        await owner.rows(`delete from ${table}`);
    },
  });
});

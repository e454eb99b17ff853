import { describeEventStoreContract, twoStores } from '@rollcall/event-store/contract';
import pg from 'pg';
import { freshDatabase } from '../../../test/support/postgres.js';
import { PostgresLog } from './index.js';

describeEventStoreContract('the store on Postgres', async () => {
  const database = await freshDatabase();
  const stores = twoStores(
    new PostgresLog({ connectionString: database.url }),
    new PostgresLog({ connectionString: database.url }),
  );
  return {
    ...stores,
    dropHeads: async () => {
      const client = new pg.Client({ connectionString: database.ownerUrl });
      await client.connect();
      await client.query('delete from stream_head');
      await client.end();
    },
    close: async () => {
      await stores.close();
      await database.drop();
    },
  };
});

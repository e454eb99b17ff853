import { dumpTables, openReadModels } from '@rollcall/read-models';

/** Where the read models stand and what their tables hold, seen in one moment although they are being written. */
export const tablesInSnapshot = async (connectionString: string) => {
  const database = openReadModels({ connectionString, connections: 1 });
  try {
    return await database
      .transaction()
      .setIsolationLevel('repeatable read')
      .setAccessMode('read only')
      .execute(async (transaction) => ({
        places: await transaction.selectFrom('read_model').select(['name', 'checkpoint', 'epoch']).execute(),
        dump: await dumpTables(transaction),
      }));
  } finally {
    await database.destroy();
  }
};

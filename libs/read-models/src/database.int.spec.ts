import { expect, it } from '@jest/globals';
import { freshDatabase, testCluster } from '../../../test/support/postgres.js';
import { TcpProxy } from '../../../test/support/tcp-proxy.js';
import { openReadModels } from './index.js';

it('gives up the connections to a server that went silent without closing, and opens others', async () => {
  const database = await freshDatabase();
  await using proxy = await TcpProxy.listen({ host: '127.0.0.1', port: testCluster().port });
  const readModels = openReadModels({ connectionString: proxy.through(database.url), silentAfter: 1_500 });
  const names = () => readModels.selectFrom('read_model').select('name').orderBy('name').execute();
  const all = ['absence', 'history', 'presence', 'readiness'].map((name) => ({ name }));
  expect(await names()).toEqual(all);
  proxy.silence();
  await expect(names()).rejects.toMatchObject({ code: 'ETIMEDOUT' });
  expect(await names()).toEqual(all);
  proxy.silence();
  const asked = readModels.transaction().execute((transaction) => transaction.selectFrom('read_model').execute());
  await expect(asked).rejects.toMatchObject({ code: 'ETIMEDOUT' });
  expect(await names()).toEqual(all);
  await readModels.destroy();
  await database.drop();
}, 60_000);

import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Owner } from '../../../test/support/owner.js';
import { freshDatabase, type FreshDatabase } from '../../../test/support/postgres.js';
import { PostgresLog } from './index.js';

describe('the epoch of the record', () => {
  let database: FreshDatabase;
  let owner: Owner;

  beforeAll(async () => {
    database = await freshDatabase();
    owner = await Owner.connect(database.ownerUrl);
  });
  afterAll(async () => {
    await owner[Symbol.asyncDispose]();
    await database.drop();
  });

  const epoch = async () => {
    const log = new PostgresLog({ connectionString: database.url });
    try {
      return await log.epoch();
    } finally {
      await log.close();
    }
  };

  it('stays the same on the same cluster, over restarts of the plane (C24)', async () => {
    expect(await epoch()).toBe(await epoch());
  });

  it('is another one after the step that ends every restore (C24)', async () => {
    const before = await epoch();
    const renewed = await owner.value<string>('select confirm_epoch(true)');
    expect(renewed).not.toBe(before);
    expect(await epoch()).toBe(renewed);
  });

  it.each(['system_identifier = 1', 'timeline = timeline + 1'])(
    'is another one when the record finds itself on another cluster or timeline (%s), and is agreed on by all (C24)',
    async (moved) => {
      const before = await epoch();
      await owner.rows(`update record_epoch set ${moved}`);
      const [one, two] = await Promise.all([epoch(), epoch()]);
      expect(one).not.toBe(before);
      expect(two).toBe(one);
    },
  );
});

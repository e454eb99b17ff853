import { describeEventStoreContract, twoStores } from './testing/contract.js';
import { InMemoryLog } from './testing/index.js';

describeEventStoreContract('the store in memory', () => {
  const log = new InMemoryLog(() => Date.now());
  return Promise.resolve({ ...twoStores(log, log), dropHeads: () => log.dropHeads() });
});

import { expect, it } from '@jest/globals';
import { InMemoryLog, tally } from './testing/index.js';
import { LogBackedStore } from './index.js';

const actor = { kind: 'plane', id: 'test' } as const;

it('asks once for all the keys that are looked up at the same time, and gives each its own answer', async () => {
  const log = new InMemoryLog(() => 0);
  const asked: (readonly string[])[] = [];
  const holders = log.holders.bind(log);
  log.holders = (keys) => (asked.push([...keys]), holders(keys));
  const store = new LogBackedStore(log);
  await store.decide(tally, { stream: 'tally-a' }, { type: 'Hold', key: 'badge:1' }, { actor });
  const answers = await Promise.all(['badge:1', 'badge:2', 'badge:1'].map((key) => store.holder(key)));
  expect(answers).toEqual([{ stream: 'tally-a', released: false }, null, { stream: 'tally-a', released: false }]);
  expect(asked).toEqual([['badge:1', 'badge:2', 'badge:1']]);
  // Nothing is remembered: whether a key was given back is asked each time.
  await store.decide(tally, { stream: 'tally-a' }, { type: 'Free', key: 'badge:1' }, { actor });
  expect(await store.holder('badge:1')).toEqual({ stream: 'tally-a', released: true });
  await store.close();
});

it('fails those who asked together, and nobody who asks later', async () => {
  const log = new InMemoryLog(() => 0);
  const holders = log.holders.bind(log);
  log.holders = () => Promise.reject(new Error('away'));
  const store = new LogBackedStore(log);
  const answers = await Promise.allSettled([store.holder('badge:1'), store.holder('badge:2')]);
  expect(answers.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  log.holders = holders;
  expect(await store.holder('badge:1')).toBeNull();
  await store.close();
});

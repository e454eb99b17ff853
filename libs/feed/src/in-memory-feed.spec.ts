import { expect, it } from '@jest/globals';
import { BATCH_SUBJECT, batchMessageId, FeedMisconfigured } from './index.js';
import { feedContract } from './testing/contract.js';
import { InMemoryFeed, type PassingTime } from './testing/index.js';

/** Time that passes only while somebody waits, and then at once. */
class HurriedTime implements PassingTime {
  #now = 0;

  monotonic(): number {
    return this.#now;
  }

  async sleep(ms: number, signal?: AbortSignal): Promise<void> {
    await new Promise((resolve) => setImmediate(resolve));
    if (!signal?.aborted) this.#now += ms;
  }
}

feedContract('in memory', () => {
  const feed = new InMemoryFeed(new HurriedTime());
  return Promise.resolve({
    feed,
    other: feed,
    acknowledgeWithinMs: 30_000,
    goAway: () => Promise.resolve(void (feed.away = true)),
    comeBack: () => Promise.resolve(void (feed.away = false)),
    close: () => feed.close(),
  });
});

it('lets a test refuse its setup, deliver anything, and wipe it', async () => {
  const feed = new InMemoryFeed(new HurriedTime());
  feed.refusal = new FeedMisconfigured(['max_age is 1, and should be 2']);
  await expect(feed.prepare()).rejects.toThrow('max_age is 1');
  const reader = feed.read('machines');
  const id = batchMessageId({ epoch: 'e', number: 3n });
  feed.deliver(
    'machines',
    { subject: BATCH_SUBJECT, id, body: 'twice' },
    { subject: BATCH_SUBJECT, id, body: 'twice' },
  );
  expect(await reader.take(5, 0, new AbortController().signal)).toHaveLength(2);
  feed.wipe();
  expect(feed.pending('machines')).toBe(0);
});

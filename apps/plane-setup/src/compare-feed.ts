import { NatsFeed, type NatsFeedOptions } from '@rollcall/feed-nats';

const CONNECT_WITHIN_MS = 10_000;

/** What is not as it must be at NATS, and what was done about it. */
export type FeedComparison = { readonly lines: readonly string[]; readonly isAsItMustBe: boolean };

/**
 * Compares the streams and consumers at NATS with what a plane needs, one line for each difference; changes them where asked to.
 *
 * @throws Error when NATS is not reached within ten seconds, or refuses a change
 */
export const compareFeed = async (options: NatsFeedOptions, apply: boolean): Promise<FeedComparison> => {
  const feed = await NatsFeed.connect(options);
  try {
    const differences = await feed.describeSetup(AbortSignal.timeout(CONNECT_WITHIN_MS));
    if (differences.length === 0) return { lines: ['The feed is set up as it must be.'], isAsItMustBe: true };
    if (!apply) return { lines: [...differences, 'To change this: rollcall-setup feed --apply'], isAsItMustBe: false };
    const left = await feed.bringToSetup(AbortSignal.timeout(CONNECT_WITHIN_MS));
    const changed = differences.filter((difference) => !left.includes(difference));
    return {
      lines: [...changed.map((difference) => `changed: ${difference}`), ...left],
      isAsItMustBe: left.length === 0,
    };
  } finally {
    await feed.close();
  }
};

import { uniformInt } from 'pure-rand/distribution/uniformInt';
import { xoroshiro128plus } from 'pure-rand/generator/xoroshiro128plus';

/** Repeatable chance. */
export type Chance = {
  /** A whole number from 0 to `limit` - 1. */
  below(limit: number): number;
};

/** As many independent sources of chance as are asked for, all out of one seed: the same seed gives the same ones, in the same order. */
export const chances = (seed: number): (() => Chance) => {
  const source = xoroshiro128plus(seed);
  return () => {
    // Neighbouring seeds would begin alike; a jump is further than anybody counts.
    source.jump();
    const own = source.clone();
    return { below: (limit) => uniformInt(own, 0, limit - 1) };
  };
};

/**
 * Decides which requests are followed: a share of them, by chance, each on its own. Nothing about a request counts, so nobody can ask
 * to be followed. A decision is one comparison, because nearly all are "no".
 *
 * @param share from 0 (none) to 1 (all)
 * @param random uniform in [0, 1)
 */
export const sampler =
  (share: number, random: () => number): (() => boolean) =>
  () =>
    random() < share;

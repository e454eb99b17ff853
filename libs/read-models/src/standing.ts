import type { Instant } from '@rollcall/decider';

/** Something that keeps a machine from taking work, and the record's time at which it was first said. */
export type StandingBlocker<Since = Instant> = { readonly code: string; readonly since: Since };

/** What stands after a machine has said these codes, by code: what stood before keeps its beginning, and the rest begins now. */
export const standing = <Since>(
  before: readonly StandingBlocker<Since>[],
  codes: readonly string[],
  now: Since,
): readonly StandingBlocker<Since>[] => {
  const stood = new Map(before.map((blocker) => [blocker.code, blocker]));
  return [...new Set(codes)].sort().map((code) => stood.get(code) ?? { code, since: now });
};

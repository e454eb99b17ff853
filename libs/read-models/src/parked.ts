import type { Parked } from './understand.js';

/** The parked facts of one stream and reason. */
export type ParkedCount = {
  readonly stream: string;
  readonly reason: Parked['reason'];
  readonly firstRevision: number;
  readonly lastRevision: number;
  readonly facts: number;
  /** Of the first. */
  readonly detail: string;
};

/** One row per stream and reason, however many facts there are. */
export const countParked = (parked: readonly Parked[]): readonly ParkedCount[] => {
  const counts = new Map<string, ParkedCount>();
  for (const { stream, revision, reason, detail } of parked) {
    const key = `${reason} ${stream}`;
    const before = counts.get(key) ?? {
      stream,
      reason,
      firstRevision: revision,
      lastRevision: revision,
      facts: 0,
      detail,
    };
    counts.set(key, { ...before, lastRevision: revision, facts: before.facts + 1 });
  }
  return [...counts.values()];
};

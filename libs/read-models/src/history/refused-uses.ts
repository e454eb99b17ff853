import { STREAM_START } from '@rollcall/event-store';
import type { History, HistoryEntry } from '@rollcall/wire';
import type { ReplayPlace, ReplayQueries } from './replay.js';

type RefusedUse = Extract<HistoryEntry, { readonly kind: 'refused' }>;

/** Behind whatever a machine's own stream can hold: all that a replay still tells from here on are refused uses. */
const BEHIND_ITS_OWN: ReplayPlace['facts'] = { revision: 2 ** 31 - 1, recordedAt: Date.UTC(9999, 0) };

/** The refused uses of a machine's credentials, from the record, oldest first (B7). */
export const refusedUses = async (
  replay: Pick<ReplayQueries, 'page'>,
  machine: string,
): Promise<readonly RefusedUse[]> => {
  const after = { facts: BEHIND_ITS_OWN, refusals: STREAM_START, deafness: BEHIND_ITS_OWN.recordedAt };
  const page = await replay.page(machine, { after });
  return page?.entries.filter((entry) => entry.kind === 'refused') ?? [];
};

/**
 * Puts refused uses between the newest lines of a history, where they happened since the first of these. Whoever goes on with a dead credential is refused
 * for as long as they do, so of each reason and credential the first use is told, which proves when it ended, and the newest (B7).
 *
 * @param entries oldest first
 * @param refused oldest first
 */
export const withRefusedUses = (
  entries: History['entries'],
  refused: readonly RefusedUse[],
): readonly HistoryEntry[] => {
  const since = entries[0]?.at ?? '';
  const alike = Map.groupBy(
    refused.filter(({ at }) => at >= since),
    ({ code, keyHash }) => `${code} ${keyHash}`,
  );
  const told = [...alike.values()].flatMap((uses) => [...new Set([uses[0]!, uses.at(-1)!])]);
  // Times of the record in one form, so texts are in the order of times; of one time, what is the machine's own comes first.
  return [...entries, ...told].toSorted((one, other) => (one.at < other.at ? -1 : one.at > other.at ? 1 : 0));
};

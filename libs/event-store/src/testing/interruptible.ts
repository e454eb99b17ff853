import type { AppendItem, AppendOptions, AppendResult, RecordLog } from '../index.js';

/**
 * Puts a gate before `append` of a log, and runs what is queued there first: the moment between a decision and its append, where
 * another instance is quicker.
 */
export const interruptible = <Log extends RecordLog>(
  log: Log,
): { readonly log: Log; before(work: () => Promise<unknown>): void } => {
  const queued: (() => Promise<unknown>)[] = [];
  const append = log.append.bind(log);
  log.append = async (items: readonly AppendItem[], options?: AppendOptions): Promise<AppendResult> => {
    for (const work of queued.splice(0)) await work();
    return append(items, options);
  };
  return { log, before: (work) => void queued.push(work) };
};

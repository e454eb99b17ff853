import type { Clock } from './clock.js';

/** The work was not done in time. */
export class DeadlineExceeded extends Error {
  override readonly name = 'DeadlineExceeded';
}

/**
 * Runs work with a signal that is aborted after `ms`, and not later than that fails, even if the work does not listen.
 *
 * The signal is its own: nothing that cancels the caller's other work reaches it, unless `outer` is given.
 *
 * @throws DeadlineExceeded, or what the work threw
 */
export const withDeadline = async <T>(
  clock: Clock,
  ms: number,
  work: (signal: AbortSignal) => Promise<T>,
  outer?: AbortSignal,
): Promise<T> => {
  const over = new AbortController();
  const done = new AbortController();
  const onOuter = () => over.abort(outer?.reason);
  if (outer?.aborted) onOuter();
  outer?.addEventListener('abort', onOuter, { once: true });
  const late = clock.sleep(ms, done.signal).then((): never | undefined => {
    if (done.signal.aborted) return undefined;
    const error = new DeadlineExceeded(`Not done within ${ms} ms`);
    over.abort(error);
    throw error;
  });
  try {
    return (await Promise.race([work(over.signal), late])) as T;
  } finally {
    done.abort();
    outer?.removeEventListener('abort', onOuter);
  }
};

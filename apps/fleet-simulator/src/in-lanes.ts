/**
 * Runs the same loop several times at once. One that fails ends all of them.
 *
 * @throws the error of the first that failed, once all have ended
 */
export const inLanes = async (
  lanes: number,
  signal: AbortSignal,
  loop: (signal: AbortSignal) => Promise<void>,
): Promise<void> => {
  const failed = new AbortController();
  const over = AbortSignal.any([signal, failed.signal]);
  const lane = () =>
    loop(over).catch((error: unknown) => {
      failed.abort(error);
    });
  await Promise.all(Array.from({ length: lanes }, lane));
  if (failed.signal.aborted) throw failed.signal.reason;
};

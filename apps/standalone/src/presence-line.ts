import { setTimeout as wait } from 'node:timers/promises';

/** What one look at the local agent has found. */
export type Look = { readonly isPresent: boolean; readonly name: string; readonly sentence: string };

/** How a look becomes a line. */
export type PresenceLine = {
  readonly tell: (look: Look) => void;
  readonly signal: AbortSignal;
  /** Milliseconds between two looks, while the agent is present and while it is not. (Default: 2,000 and 500) */
  readonly every?: { readonly present: number; readonly awaited: number };
};

/**
 * The line that a newcomer waits for: the plane itself says that the agent is present. Tells what has changed, until the signal aborts.
 *
 * A look that fails is told like any other change and ends nothing: a database that restarts is no reason for a plane to go.
 */
export const tellPresence = async (
  look: () => Promise<Look>,
  { tell, signal, every = { present: 2_000, awaited: 500 } }: PresenceLine,
): Promise<void> => {
  let told = '';
  while (!signal.aborted) {
    const seen = await look().catch(notSeen);
    if (signal.aborted) return;
    const line = JSON.stringify(seen);
    if (line !== told) tell(seen);
    told = line;
    await wait(seen.isPresent ? every.present : every.awaited, undefined, { signal }).catch(() => undefined);
  }
};

const notSeen = (error: unknown): Look => ({
  isPresent: false,
  name: 'the local agent',
  sentence: `cannot be seen right now (${error instanceof Error ? error.message : String(error)}). If this stays, stop with Ctrl-C and start again.`,
});

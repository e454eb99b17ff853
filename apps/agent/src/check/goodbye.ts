import type { Clock } from '@rollcall/lifetimes';
import type { Outcome } from './reaction.js';

/** For the goodbye, with everything that it takes (O17). */
export const GOODBYE_DEADLINE = 5_000;
/** Not answered by then, it is sent once more beside the first: what was lost may be the answer only. */
export const GOODBYE_REPEAT = 3_000;

/**
 * Says goodbye: asks once, once more when that failed or takes long, and is over after five seconds. The signal that `ask` gets is aborted
 * by nothing else, so neither what cancelled the work nor a second signal cuts it short (O17, C17).
 *
 * @param ask sends the same check, under the same id, each time; never rejects
 */
export const sayGoodbye = async (clock: Clock, ask: (signal: AbortSignal) => Promise<Outcome>): Promise<Outcome> => {
  const over = new AbortController();
  const settled = new AbortController();
  const deadline = clock.sleep(GOODBYE_DEADLINE, settled.signal).then(() => over.abort());
  const first = ask(over.signal);
  const second = Promise.race([first.then(isFinal), clock.sleep(GOODBYE_REPEAT, settled.signal)]).then((final) =>
    final === true || over.signal.aborted ? first : ask(over.signal),
  );
  const outcome = await firstFinalOf(first, second);
  settled.abort();
  await Promise.all([first, second, deadline]);
  return outcome;
};

/** Whether asking again cannot change it. */
const isFinal = (outcome: Outcome): boolean =>
  outcome.kind === 'accepted' ||
  (outcome.kind === 'refused' && !['slow-down', 'unavailable', 'internal'].includes(outcome.code));

const firstFinalOf = (first: Promise<Outcome>, second: Promise<Outcome>): Promise<Outcome> =>
  Promise.race([first, second]).then(async (outcome) => {
    if (isFinal(outcome)) return outcome;
    const both = await Promise.all([first, second]);
    return both.find(isFinal) ?? both[1];
  });

import { Refusal, type Rules } from '@rollcall/decider';
import type { AcceptCheck } from './commands.js';
import type { AgentStarted, Boot, MachineFact } from './facts.js';

/** How many starts of the agent are remembered: enough for the late check of a process that was replaced. */
const REMEMBERED_BOOTS = 4;

/** The newest recorded check of one start of the agent, and what its answer was, so that it can be answered again. */
export type BootRecord = {
  readonly boot: Boot;
  readonly sequence: number;
  readonly checkId: string;
  /** Seconds. */
  readonly interval: number;
  /** The number of the chain token in the answer; null when the head was folded from the record (resettable). */
  readonly chain: number | null;
};

/** Oldest first; counters never fall, so the last one has the highest. */
export type Boots = readonly BootRecord[];

/**
 * The order of a machine's checks: by boot counter, then by sequence within the boot. Neither is a time, and nothing late
 * changes anything (plane, section 1, Repetition).
 *
 * The same counter with another random id is a copy, or an installation that lost its counter: it is accepted as a boot of its own
 * with its own sequence, because refusing it would silence an honest machine, and telling copies apart is the chain's business.
 */
export const boots: Rules<Boots, AcceptCheck, MachineFact> = {
  initial: () => [],

  decide(state, { boot, sequence }): readonly AgentStarted[] {
    const highestBoot = highestCounter(state);
    const known = bootRecord(state, boot);
    const late = boot.counter < highestBoot || (known !== undefined && sequence <= known.sequence);
    if (late) throw new Refusal('stale-check', { highestBoot });
    return known ? [] : [{ type: 'AgentStarted', boot }];
  },

  evolve(state, fact) {
    if (fact.type !== 'CheckedIn') return state;
    const { boot, sequence, checkId, interval, chain } = fact;
    const newest: BootRecord = { boot, sequence, checkId, interval, chain: chain?.issued ?? null };
    const known = bootRecord(state, boot);
    return known
      ? state.map((record) => (record === known ? newest : record))
      : [...state, newest].slice(-REMEMBERED_BOOTS);
  },
};

/** Whether a check is the newest one of its boot again, after a lost answer: nothing is recorded, and the answer is the first one. */
export const isRepetition = (state: Boots, { boot, checkId }: Pick<AcceptCheck, 'boot' | 'checkId'>): boolean =>
  bootRecord(state, boot)?.checkId === checkId;

/** What is remembered of a boot. */
export const bootRecord = (state: Boots, { counter, id }: Boot): BootRecord | undefined =>
  state.find(({ boot }) => boot.counter === counter && boot.id === id);

const highestCounter = (state: Boots): number => state.at(-1)?.boot.counter ?? 0;

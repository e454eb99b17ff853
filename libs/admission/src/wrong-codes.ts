import type { Instant } from '@rollcall/decider';

/** When somebody typed wrong codes, the newest last; times of one clock in milliseconds. */
export type WrongCodes = readonly Instant[];

const MINUTE = 60_000;
/** Wrong codes in a window after which no code is looked at: guessing one of a thousand live codes takes 10^7 tries. */
const BOUNDS = [
  { most: 5, window: MINUTE },
  { most: 10, window: 10 * MINUTE },
] as const;

/** For how many milliseconds no code is looked at, right or wrong; 0: now (O12, C08). */
export const lockedFor = (wrong: WrongCodes, now: Instant): number =>
  Math.max(
    0,
    ...BOUNDS.map(({ most, window }) => {
      // The lock lasts a whole window from the wrong code that filled it, so waiting is never shorter than typing was.
      const filled = wrong.at(-1);
      const oldest = wrong.at(-most);
      return filled !== undefined && oldest !== undefined && filled - oldest < window ? filled + window - now : 0;
    }),
  );

/** After one more wrong code; what no bound looks at any more is forgotten. */
export const afterWrong = (wrong: WrongCodes, now: Instant): WrongCodes => [...wrong, now].slice(-BOUNDS[1].most);

/** Without one of them, which was right after all. */
export const withoutWrong = (wrong: WrongCodes, at: Instant): WrongCodes => {
  const index = wrong.indexOf(at);
  return index === -1 ? wrong : wrong.toSpliced(index, 1);
};

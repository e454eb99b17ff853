/** How many of a fleet are silent, of how many that were heard from until lately. */
export type Silent = { readonly silent: number; readonly of: number };

/** A value of an attribute, for example the label `rack` with `b7`, and how many have it. */
export type Shared = Silent & { readonly attribute: string; readonly value: string };

const LEAST_MACHINES = 10;
const LEAST_SHARE = 0.2;
const LEAST_LIFT = 2;
/** A value that only a few of the silent ones have explains nothing, however telling it is of those. */
const LEAST_COVER = 0.5;

/** Whether so many are silent at the same time that one notice about all says more than one about each (B4): a fifth, and at least ten. */
export const isFleetSilence = ({ silent, of }: Silent): boolean =>
  silent >= LEAST_MACHINES && silent >= of * LEAST_SHARE;

/**
 * What the silent ones have in common, and the others have not: the value whose share among the silent ones is highest as a multiple of its
 * share among all, if that is at least twice, and at least half of the silent ones have it. Of equal ones, that which more of them have.
 */
export const commonFactor = (values: readonly Shared[], { silent, of }: Silent): Shared | null => {
  const lift = (shared: Shared): number => (shared.silent * of) / (silent * shared.of);
  const [best] = values
    .filter((shared) => shared.silent >= silent * LEAST_COVER && lift(shared) >= LEAST_LIFT)
    .sort(
      (one, other) =>
        lift(other) - lift(one) ||
        other.silent - one.silent ||
        `${one.attribute} ${one.value}`.localeCompare(`${other.attribute} ${other.value}`, 'en'),
    );
  return best ?? null;
};

/** An entry of a history as a page of it has it, as far as two pages are put together by it. */
type PagedEntry =
  | { readonly kind: 'event' | 'refused' | 'not-observed' }
  | {
      readonly kind: 'checks';
      readonly until: string;
      readonly count: number;
      readonly said: 'running' | 'stopping';
      /** Set where the run has begun on the page before. */
      readonly continues?: boolean;
      readonly sentence: string;
    };

/** Whether an entry is made of facts of the machine itself, and not only placed among them by its time. */
export const isOwnEntry = ({ kind }: Pick<PagedEntry, 'kind'>): boolean => kind === 'event' || kind === 'checks';

/**
 * What two neighbouring pages of a history tell together. A run of checks that they have parted is one again, at the place where it began, also where
 * something that is no fact of the machine's own came first on the later page: a time that nobody observed, or a refused use (U4).
 */
export const joinPages = <Entry extends PagedEntry>(
  before: readonly Entry[],
  page: readonly Entry[],
): readonly Entry[] => {
  const [last, first] = [before.findLastIndex(isOwnEntry), page.findIndex(isOwnEntry)];
  const [begun, rest] = [before[last], page[first]];
  if (begun?.kind !== 'checks' || rest?.kind !== 'checks' || rest.continues !== true) return [...before, ...page];
  const count = begun.count + rest.count;
  const sentence = `checked in ${count} times${begun.said === 'stopping' ? ', stopping' : ''}`;
  const run = { ...begun, until: rest.until, count, sentence } as Entry;
  return [...before.with(last, run), ...page.toSpliced(first, 1)];
};

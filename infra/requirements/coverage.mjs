import { idsIn } from './ids.mjs';
import { isRunOf } from './titles.mjs';

/**
 * Which tests carry each id, and how they ended.
 *
 * @param {Iterable<string>} ids the ids of the list
 * @param {readonly { spec: string, titles: readonly string[] }[]} specs what stands in the sources
 * @param {readonly { spec: string, tier: string, tests: readonly { title: string, status: string }[] }[]} runs what ran
 * @returns {Map<string, { spec: string, title: string, status: string }[]>} `status` is jest's, or `did not run`
 */
export const coverageOf = (ids, specs, runs) => {
  const coverage = new Map([...ids].map((id) => [id, []]));
  const note = (spec, title, status) => {
    for (const id of idsIn(title)) coverage.get(id)?.push({ spec, title, status });
  };
  for (const { spec, titles } of specs) {
    const ran = runs.filter((run) => run.spec === spec).flatMap(({ tests }) => tests);
    for (const { title, status } of ran)
      note(spec, title, status === 'passed' || status === 'failed' ? status : 'did not run');
    for (const title of titles) if (!ran.some((test) => isRunOf(title, test.title))) note(spec, title, 'did not run');
  }
  return coverage;
};

/** An id is proven by at least one test that ran and passed, and none that failed. */
export const isProven = (tests) =>
  tests.some(({ status }) => status === 'passed') && tests.every(({ status }) => status !== 'failed');

/** The ids in titles that the list does not know: a typing error would otherwise look like an open requirement. */
export const unknownIds = (ids, specs) => {
  const known = new Set(ids);
  return specs.flatMap(({ spec, titles }) =>
    titles.flatMap((title) =>
      idsIn(title)
        .filter((id) => !known.has(id))
        .map((id) => ({ spec, id })),
    ),
  );
};

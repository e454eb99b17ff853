// Notes which tests ran and how they ended, for `npm run requirements`: one file per spec in .test-results/<tier>/, so that runs
// of single specs and of whole tiers add up, whoever runs them at the same time.
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';

export default class RequirementsReporter {
  #root;
  #isPartial;

  constructor({ rootDir, testNamePattern }) {
    this.#root = rootDir;
    // A run that was narrowed by `-t` did not run the rest of a spec, and says nothing about it.
    this.#isPartial = Boolean(testNamePattern);
  }

  onTestResult({ path, context }, { testResults }) {
    if (this.#isPartial) return;
    const tier = context.config.displayName?.name ?? 'pure';
    const spec = relative(this.#root, path);
    const file = join(this.#root, '.test-results', tier, `${spec.replaceAll('/', '__')}.json`);
    mkdirSync(dirname(file), { recursive: true });
    const tests = testResults.map(({ ancestorTitles, title, status }) => ({
      title: [...ancestorTitles, title].join(' › '),
      status,
    }));
    writeFileSync(file, JSON.stringify({ spec, tier, tests }, null, 1));
  }
}

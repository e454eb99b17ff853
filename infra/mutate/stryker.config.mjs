// Mutation is the judge of the tests of everything pure: floors 0 and 1, and the projections. `npm run mutate`; one part of it with
// `npm run mutate -- --mutate 'libs/machine/src/chain.ts'`.
export default {
  mutate: [
    'libs/{decider,machine,admission,person,promise-book,webhook-endpoint,transport-watchdog}/src/**/*.ts',
    'libs/read-models/src/**/{project,standing,blockers-sentence}.ts',
    '!libs/*/src/**/*.spec.ts',
    '!libs/*/src/**/testing/**',
  ],
  testRunner: 'jest',
  plugins: ['@stryker-mutator/jest-runner'],
  testRunnerNodeArgs: ['--experimental-vm-modules'],
  jest: { projectType: 'custom', configFile: 'infra/mutate/jest.config.mjs', enableFindRelatedTests: true },
  coverageAnalysis: 'perTest',
  // Texts and numbers that are made once, when a module loads, cost half of the time; the tests name each of them.
  ignoreStatic: true,
  // A property that a mutant turns into an endless loop is a killed mutant.
  timeoutMS: 10_000,
  concurrency: 2,
  // What did not change since the last run is not judged again.
  incremental: true,
  incrementalFile: 'reports/mutation/incremental.json',
  ignorePatterns: ['apps', 'docs', 'test', '.ci', '.rollcall', '**/dist'],
  tempDirName: '.stryker-tmp',
  reporters: ['clear-text', 'progress-append-only', 'html', 'json'],
  clearTextReporter: { allowEmojis: false, logTests: false, reportTests: false },
  htmlReporter: { fileName: 'reports/mutation/index.html' },
  jsonReporter: { fileName: 'reports/mutation/mutation.json' },
  thresholds: { high: 95, low: 90, break: 85 },
  allowConsoleColors: false,
};

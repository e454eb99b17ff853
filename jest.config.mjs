// Four tiers by suffix. `pure` needs nothing; `int` one real dependency; `e2e` processes; `lab` containers.
const tier = (displayName, testMatch, extra = {}) => ({
  displayName,
  testMatch,
  rootDir: import.meta.dirname,
  roots: ['<rootDir>/libs', '<rootDir>/apps', '<rootDir>/test'],
  modulePathIgnorePatterns: ['<rootDir>/dist', '/dist/', '<rootDir>/.rollcall', '<rootDir>/.stryker-tmp'],
  testEnvironment: 'node',
  testEnvironmentOptions: { customExportConditions: ['source', 'node', 'node-addons'] },
  extensionsToTreatAsEsm: ['.ts'],
  moduleNameMapper: {
    '^(\\.{1,2}/.*)\\.js$': '$1',
    // Its export `source` is not for us either.
    '^eventsource-parser$': '<rootDir>/node_modules/eventsource-parser/dist/index.js',
  },
  transform: {
    '^.+\\.ts$': [
      '@swc/jest',
      {
        jsc: {
          parser: { syntax: 'typescript', decorators: true },
          transform: { legacyDecorator: true, decoratorMetadata: true },
          target: 'es2022',
          keepClassNames: true,
        },
        module: { type: 'es6' },
        sourceMaps: 'inline',
      },
    ],
  },
  ...extra,
});

const database = {
  globalSetup: '<rootDir>/test/support/postgres-setup.mjs',
  globalTeardown: '<rootDir>/test/support/postgres-teardown.mjs',
};

export default {
  reporters: ['default', '<rootDir>/test/support/requirements-reporter.mjs'],
  projects: [
    tier('pure', ['**/*.spec.ts', '!**/*.int.spec.ts', '!**/*.e2e.spec.ts', '!**/*.lab.spec.ts']),
    tier('int', ['**/*.int.spec.ts'], database),
    tier('e2e', ['**/*.e2e.spec.ts'], database),
    tier('lab', ['**/*.lab.spec.ts']),
  ],
};

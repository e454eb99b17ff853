// The pure tier of the libs whose rules are mutated, as one project: Stryker's runner takes no multi-project configuration.
import tiers from '../../jest.config.mjs';

const { displayName: _name, rootDir, ...pure } = tiers.projects.find(({ displayName }) => displayName === 'pure');
const libs = ['decider', 'machine', 'admission', 'person', 'read-models'];

export default {
  ...pure,
  rootDir,
  roots: libs.map((lib) => `<rootDir>/libs/${lib}`),
  // The tables have to kill the mutants; random walks would only find them more slowly.
  testPathIgnorePatterns: ['/node_modules/', 'properties\\.spec\\.ts$'],
};

import { isTest, packageOf, resolveRelative, type Package, type SourceFile, type SourceTree } from './source-tree.js';

/** A rule about the shape of the tree: one sentence per violation, none when it holds. */
export type Rule = (tree: SourceTree) => readonly string[];

const LIB = '@rollcall/';
const STANDALONE = '@rollcall/standalone';
const COMPOSED = new Set(['@rollcall/machine-api', '@rollcall/operator-api', '@rollcall/projector']);

const eachFile = (tree: SourceTree, check: (file: SourceFile, owner: Package) => readonly string[]) =>
  tree.packages.flatMap((owner) => owner.files.flatMap((file) => check(file, owner)));

const isApp = ({ directory }: Package) => directory.startsWith('apps/');

/** Imports go down only, never sideways; an app imports no app, except that standalone composes the three Nest apps. */
export const floors: Rule = (tree) => {
  const byName = new Map(tree.packages.map((each) => [each.name, each]));
  return eachFile(tree, (file, owner) =>
    file.imports.flatMap(({ specifier }) => {
      const name = packageOf(specifier);
      if (!name?.startsWith(LIB)) return [];
      const target = byName.get(name);
      if (!target) return [`${file.path} imports ${name}, which is no package of this tree`];
      if (target === owner) return [`${file.path} imports its own package by name (${specifier})`];
      if (isApp(target) && !(owner.name === STANDALONE && COMPOSED.has(name)))
        return [`${file.path} imports the app ${name}`];
      if (target.floor >= owner.floor)
        return [`${file.path} (floor ${owner.floor}) imports ${name} (floor ${target.floor})`];
      return [];
    }),
  );
};

/**
 * A file reaches other packages by what their package.json exports: `.` for everybody, any other entry (test doubles, contracts) for
 * tests. No relative path leads out of a package, except from a test to the test support.
 */
export const entries: Rule = (tree) => {
  const entriesOf = new Map(tree.packages.map((each) => [each.name, each.entries]));
  return eachFile(tree, (file, owner) =>
    file.imports.flatMap(({ specifier }) => {
      const name = packageOf(specifier);
      if (name?.startsWith(LIB)) {
        const entry = `.${specifier.slice(name.length)}`;
        if (!entriesOf.get(name)?.includes(entry))
          return [`${file.path} reaches behind the entries of ${name} (${specifier})`];
        if (entry !== '.' && !isTest(file.path)) return [`${file.path} imports what is for tests (${specifier})`];
      }
      if (!specifier.startsWith('.')) return [];
      const path = resolveRelative(file.path, specifier);
      if (path.startsWith(`${owner.directory}/`) || (isTest(file.path) && path.startsWith('test/'))) return [];
      return [`${file.path} leaves its package (${specifier})`];
    }),
  );
};

const TEST_FRAMEWORK = new Set(['@jest/globals', 'fast-check']);

/** Floors 0 and 1 are pure: no node module, no npm package, no clock, no randomness, no IO. Specs may use the test framework. */
export const purity: Rule = (tree) =>
  eachFile(tree, (file, owner) => {
    if (owner.floor > 1) return [];
    const foreign = file.imports
      .map(({ specifier }) => packageOf(specifier))
      .filter((name) => name !== null && !name.startsWith(LIB) && !(isTest(file.path) && TEST_FRAMEWORK.has(name)));
    return [
      ...foreign.map((name) => `${file.path} imports ${name}`),
      ...(isTest(file.path) ? [] : file.ambient.map(({ name, line }) => `${file.path}:${line} uses ${name}`)),
    ];
  });

/** Every cycle of a graph, each once, named by the nodes on it. */
const cyclesOf = (graph: ReadonlyMap<string, ReadonlySet<string>>): string[] => {
  const done = new Set<string>();
  const found: string[] = [];
  const visit = (node: string, trail: readonly string[]) => {
    const at = trail.indexOf(node);
    if (at >= 0) found.push([...trail.slice(at), node].join(' -> '));
    if (at >= 0 || done.has(node)) return;
    for (const next of graph.get(node) ?? []) visit(next, [...trail, node]);
    done.add(node);
  };
  for (const node of graph.keys()) visit(node, []);
  return found;
};

/** No file imports itself over others, type-only imports included. */
export const fileCycles: Rule = (tree) =>
  tree.packages.flatMap(({ files }) =>
    cyclesOf(
      new Map(
        files.map(({ path, imports }) => [
          path,
          new Set(
            imports.flatMap(({ specifier }) => (specifier.startsWith('.') ? [resolveRelative(path, specifier)] : [])),
          ),
        ]),
      ),
    ),
  );

/** No package imports itself over others, their specs left aside. */
export const packageCycles: Rule = (tree) =>
  cyclesOf(
    new Map(
      tree.packages.map(({ name, files }) => [
        name,
        new Set(
          files
            .filter(({ path }) => !path.endsWith('.spec.ts'))
            .flatMap(({ imports }) => imports.map(({ specifier }) => packageOf(specifier)))
            .filter((each) => each !== null && each !== name && each.startsWith(LIB)) as string[],
        ),
      ]),
    ),
  );

const NEST_APPS = ['apps/machine-api', 'apps/operator-api', 'apps/projector', 'apps/standalone'];

/** Who may import a package at all: what is not named here is free. Specs are free. */
const RESERVED: readonly { readonly what: string; readonly matches: RegExp; readonly owners: readonly string[] }[] = [
  {
    what: 'the database driver is for libs that own tables',
    matches: /^(pg|kysely)$/,
    owners: [
      'libs/event-store-postgres',
      'libs/read-models',
      'libs/log-tails',
      'libs/attempts',
      'libs/relay',
      'libs/leadership',
      'libs/migrations',
      'libs/webhooks',
      'libs/embedded-postgres',
      'apps/verifier',
    ],
  },
  {
    what: 'the job queue is for libs/webhooks, and for whoever makes its schema',
    matches: /^pg-boss$/,
    owners: ['libs/webhooks', 'libs/migrations'],
  },
  {
    what: 'time zones are for libs/promises',
    matches: /^(temporal-polyfill|luxon)$/,
    owners: ['libs/promises'],
  },
  {
    what: 'Nest is for the Nest apps and libs/nest-platform',
    matches: /^(@nestjs\/.*|nestjs-pino|class-validator|class-transformer)$/,
    owners: ['libs/nest-platform', ...NEST_APPS],
  },
  {
    what: 'metadata is for Nest, and for the X.509 library, which wants it loaded first',
    matches: /^reflect-metadata$/,
    owners: ['libs/nest-platform', 'libs/plane-ca', ...NEST_APPS],
  },
  {
    what: 'the NATS client is for libs/feed-nats',
    matches: /^@nats-io\//,
    owners: ['libs/feed-nats'],
  },
  {
    what: 'OpenTelemetry is for libs/telemetry',
    matches: /^@opentelemetry\//,
    owners: ['libs/telemetry'],
  },
  {
    what: 'the SSH client is for libs/ssh-session',
    matches: /^ssh2$/,
    owners: ['libs/ssh-session'],
  },
  {
    what: 'embedded binaries are for libs/embedded-postgres',
    matches: /^embedded-postgres$/,
    owners: ['libs/embedded-postgres'],
  },
];

/** Some packages have one home, so that they can be replaced there. */
export const reservedPackages: Rule = (tree) =>
  eachFile(tree, (file, owner) =>
    isTest(file.path)
      ? []
      : file.imports.flatMap(({ specifier }) => {
          const name = packageOf(specifier);
          const rule = RESERVED.find(({ matches }) => name !== null && matches.test(name));
          return rule && !rule.owners.includes(owner.directory) ? [`${file.path} imports ${name}: ${rule.what}`] : [];
        }),
  );

/** What runs in production is a dependency: an installation without development packages must be able to boot it. */
export const productionDependencies: Rule = (tree) =>
  eachFile(tree, (file, owner) =>
    // These programs are bundles; embedded binaries are a convenience of a checkout.
    isTest(file.path) ||
    ['apps/agent', 'apps/cli', 'apps/fleet-simulator', 'libs/embedded-postgres'].includes(owner.directory) ||
    !file.path.includes('/src/')
      ? []
      : file.imports.flatMap(({ specifier }) => {
          const name = packageOf(specifier);
          if (!name || name.startsWith('node:') || name.startsWith(LIB) || tree.dependencies.includes(name)) return [];
          return [`${file.path} imports ${name}, which is no dependency of the root package`];
        }),
  );

const FIXED_TIMES = new Set(['libs/transport-watchdog', 'libs/ssh-session']);

/** When an SSH session counts as lost is fixed: these two libs read no environment, so nobody can set it from outside. */
export const fixedTimes: Rule = (tree) =>
  eachFile(tree, (file, owner) =>
    FIXED_TIMES.has(owner.directory) && !isTest(file.path)
      ? [
          ...file.ambient.filter(({ name }) => name === 'process.env').map(({ line }) => `${file.path}:${line}`),
          ...file.imports.filter(({ specifier }) => /^(node:)?process$/.test(specifier)).map(() => file.path),
        ].map((place) => `${place} reads the environment`)
      : [],
  );

const EMPTY_NAMES = new Set([
  'utils',
  'util',
  'common',
  'core',
  'shared',
  'helpers',
  'helper',
  'base',
  'manager',
  'misc',
]);

/** A name says what is inside. */
export const names: Rule = (tree) =>
  tree.paths.flatMap((path) => {
    const last = path.split('/').at(-1) ?? '';
    const empty = last.split(/[.\-_]/).find((word) => EMPTY_NAMES.has(word.toLowerCase()));
    return empty ? [`${path} says "${empty}", not what is inside`] : [];
  });

/** A module that compiles can still fail when Nest puts it together: each Nest app has a spec that builds its root module. */
export const bootTests: Rule = (tree) =>
  tree.nestApps
    .filter((app) => !tree.paths.some((path) => path.startsWith(`apps/${app}/`) && /boot[^/]*\.spec\.ts$/.test(path)))
    .map((app) => `apps/${app} has no boot spec (a *.spec.ts with "boot" in its name)`);

/** HTTP exists only at the edge: a rule says no with a Refusal, and one table under `src/http` turns that into an answer. */
export const httpExceptions: Rule = (tree) =>
  eachFile(tree, (file, owner) =>
    owner.directory === 'libs/nest-platform' || /^apps\/[^/]+\/src\/http\//.test(file.path) || isTest(file.path)
      ? []
      : file.imports.flatMap(({ specifier, names: imported }) =>
          specifier === '@nestjs/common'
            ? imported.filter((name) => name.endsWith('Exception')).map((name) => `${file.path} imports ${name}`)
            : [],
        ),
  );

/** The declarations without a docstring that a file shows to whoever imports it, directly or passed on. */
const undocumentedBehind = (files: ReadonlyMap<string, SourceFile>, path: string, only: string | null): string[] => {
  const file = files.get(path);
  if (!file) return [];
  return [
    ...file.undocumented
      .filter((name) => only === null || name === only)
      .map((name) => `${path} exports ${name} without a docstring`),
    ...file.passedOn
      .filter(({ specifier, name }) => specifier.startsWith('.') && (only === null || name === null || name === only))
      .flatMap(({ specifier, name }) => undocumentedBehind(files, resolveRelative(path, specifier), name ?? only)),
  ];
};

/** What a lib shows is explained where it is declared; one docstring may speak for the lines right below it. */
export const docstrings: Rule = (tree) =>
  tree.packages
    .filter(({ directory }) => directory.startsWith('libs/'))
    .flatMap(({ directory, files }) =>
      undocumentedBehind(new Map(files.map((file) => [file.path, file])), `${directory}/src/index.ts`, null),
    );

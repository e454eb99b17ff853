import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize, posix } from 'node:path';
import { parseSync, Visitor, type ExportNamedDeclaration } from 'oxc-parser';

/** One `import`, `export … from` or `import()` with a literal; type-only ones count like the others. */
export type Import = {
  readonly specifier: string;
  /** The imported names; empty for `import 'x'`, `export *` and `import()`. */
  readonly names: readonly string[];
};

/** What code of one file reaches for without importing it. */
export type Ambient = { readonly name: string; readonly line: number };

export type SourceFile = {
  /** Relative to the tree's root, with forward slashes. */
  readonly path: string;
  readonly imports: readonly Import[];
  readonly ambient: readonly Ambient[];
  /** Exported declarations that have no docstring right above them. */
  readonly undocumented: readonly string[];
  /** What it passes on from other files; a null name is all of them. */
  readonly passedOn: readonly { readonly specifier: string; readonly name: string | null }[];
};

export type Package = {
  readonly name: string;
  /** `libs/machine`, `apps/cli`, … */
  readonly directory: string;
  readonly floor: number;
  /** The subpaths that its package.json exports: `.`, `./testing`. */
  readonly entries: readonly string[];
  readonly files: readonly SourceFile[];
};

/** The source of a checkout, as far as rules about its shape need it. */
export type SourceTree = {
  readonly root: string;
  readonly packages: readonly Package[];
  /** Every file and folder below `libs`, `apps`, `infra` and `test`. */
  readonly paths: readonly string[];
  /** The npm packages that a production installation has. */
  readonly dependencies: readonly string[];
  /** The names of the apps that `nest build` builds. */
  readonly nestApps: readonly string[];
};

const NOT_SOURCE = new Set(['node_modules', 'dist']);

const walk = (root: string, directory: string): string[] =>
  existsSync(join(root, directory))
    ? readdirSync(join(root, directory), { withFileTypes: true }).flatMap((entry) => {
        const path = posix.join(directory, entry.name);
        if (NOT_SOURCE.has(entry.name)) return [];
        return entry.isDirectory() ? [path, ...walk(root, path)] : [path];
      })
    : [];

const lineAt = (text: string, offset: number) => text.slice(0, offset).split('\n').length;

/** A clock is read by `Date.now()`, `Date()` and `new Date()`; `new Date(instant)` only converts. */
const ambientIn = (text: string, program: Parameters<Visitor['visit']>[0]): Ambient[] => {
  const found: Ambient[] = [];
  const keys = new Set<number>();
  const note = (name: string, start: number) => found.push({ name, line: lineAt(text, start) });
  const isNamed = (node: { type: string }, name: string) =>
    'name' in node && node.type === 'Identifier' && node.name === name;
  new Visitor({
    MemberExpression(node) {
      if (!node.computed) keys.add(node.property.start);
      if (node.object.type !== 'Identifier' || node.property.type !== 'Identifier' || node.computed) return;
      const name = `${node.object.name}.${node.property.name}`;
      if (name === 'Date.now' || name === 'Math.random' || name === 'process.env') note(name, node.start);
    },
    NewExpression(node) {
      if (isNamed(node.callee, 'Date') && node.arguments.length === 0) note('new Date()', node.start);
    },
    CallExpression(node) {
      if (isNamed(node.callee, 'Date')) note('Date()', node.start);
    },
    Property(node) {
      if (!node.computed && !node.shorthand) keys.add(node.key.start);
    },
    Identifier(node) {
      if (AMBIENT.has(node.name) && !keys.has(node.start)) note(node.name, node.start);
    },
  }).visit(program);
  return found;
};

const AMBIENT = new Set(
  (
    'process console performance crypto fetch Buffer globalThis global require ' +
    'setTimeout setInterval setImmediate queueMicrotask structuredClone Temporal'
  ).split(' '),
);

/**
 * A docstring belongs to a declaration when only white space lies between the two, and speaks for the declarations that follow
 * without a blank line.
 */
const undocumentedIn = (text: string, parsed: ReturnType<typeof parseSync>): string[] => {
  const docstrings = parsed.comments.filter(({ type, value }) => type === 'Block' && value.startsWith('*'));
  const isDocumented = (start: number) =>
    docstrings.some(({ end }) => end <= start && /^\s*$/.test(text.slice(end, start)));
  const names: string[] = [];
  let group = { end: 0, documented: false };
  for (const statement of parsed.program.body) {
    const declaration = statement.type === 'ExportNamedDeclaration' ? statement.declaration : null;
    const decorator = declaration && 'decorators' in declaration ? declaration.decorators[0] : undefined;
    const start = Math.min(statement.start, decorator?.start ?? statement.start);
    const follows = group.documented && /^[ \t]*\n?[ \t]*$/.test(text.slice(group.end, start));
    group = { end: statement.end, documented: isDocumented(start) || follows };
    if (declaration && !group.documented) names.push(...declaredNames(text, declaration));
  }
  return names;
};

const declaredNames = (text: string, declaration: NonNullable<ExportNamedDeclaration['declaration']>): string[] => {
  if (declaration.type === 'VariableDeclaration')
    return declaration.declarations.map(({ id }) => text.slice(id.start, id.end).split(/[:\s]/)[0] ?? '');
  return 'id' in declaration && declaration.id && 'name' in declaration.id ? [declaration.id.name] : [];
};

const readFile = (root: string, path: string): SourceFile => {
  const text = readFileSync(join(root, path), 'utf8');
  const parsed = parseSync(path, text);
  if (parsed.errors.length > 0) throw new Error(`${path}: ${parsed.errors[0]?.message}`);
  const { staticImports, staticExports, dynamicImports } = parsed.module;
  const literal = /^(['"`])(.*)\1$/s;
  return {
    path,
    imports: [
      ...staticImports.map(({ moduleRequest, entries }) => ({
        specifier: moduleRequest.value,
        names: entries.map(({ importName }) => importName.name ?? '*'),
      })),
      ...staticExports.flatMap(({ entries }) =>
        entries.flatMap(({ moduleRequest }) => (moduleRequest ? [{ specifier: moduleRequest.value, names: [] }] : [])),
      ),
      ...dynamicImports.flatMap(({ moduleRequest }) => {
        const request = literal.exec(text.slice(moduleRequest.start, moduleRequest.end))?.[2];
        return request === undefined ? [] : [{ specifier: request, names: [] }];
      }),
    ],
    ambient: ambientIn(text, parsed.program),
    undocumented: undocumentedIn(text, parsed),
    passedOn: staticExports.flatMap(({ entries }) =>
      entries.flatMap(({ moduleRequest, importName }) =>
        moduleRequest ? [{ specifier: moduleRequest.value, name: importName.name }] : [],
      ),
    ),
  };
};

const readJson = (path: string) => JSON.parse(readFileSync(path, 'utf8')) as Record<string, unknown>;

/** Reads the tree below a root directory: the checkout, or the planted trees of the self-tests. */
export const readSourceTree = (root: string): SourceTree => {
  const paths = ['libs', 'apps', 'infra', 'test'].flatMap((directory) => walk(root, directory));
  const packages = paths
    .filter((path) => /^(libs|apps)\/[^/]+\/package\.json$/.test(path))
    .map((path): Package => {
      const {
        name,
        floor,
        exports = {},
      } = readJson(join(root, path)) as { name: string; floor: number; exports?: object };
      const directory = dirname(path);
      const files = paths.filter((file) => file.startsWith(`${directory}/`) && /\.(ts|mts|tsx)$/.test(file));
      return {
        name,
        directory,
        floor,
        entries: Object.keys(exports),
        files: files.map((file) => readFile(root, file)),
      };
    });
  const { dependencies = {} } = readJson(join(root, 'package.json')) as { dependencies?: Record<string, string> };
  const { projects = {} } = readJson(join(root, 'nest-cli.json')) as { projects?: Record<string, unknown> };
  return { root, packages, paths, dependencies: Object.keys(dependencies), nestApps: Object.keys(projects) };
};

/** The npm or workspace package that a specifier names; null for a relative one. */
export const packageOf = (specifier: string): string | null => {
  if (specifier.startsWith('.')) return null;
  if (specifier.startsWith('node:')) return specifier;
  return specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/');
};

/** The path that a relative specifier means: a `.js` beside a TypeScript source is that source. */
export const resolveRelative = (from: string, specifier: string): string =>
  posix.normalize(normalize(join(dirname(from), specifier)).replaceAll('\\', '/')).replace(/\.js$/, '.ts');

/** Specs and test doubles: they are no part of what runs, and may use the test framework. */
export const isTest = (path: string): boolean => /\.spec\.ts$|\/src\/testing\//.test(path);

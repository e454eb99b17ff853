// `npm run requirements`: every id of docs/requirements.md with the tests that carry it and how they ended in the last run.
//
//   --json                 one document
//   --missing [ID…]        only the ids (all, when none is given) without a test that ran and passed; exits 1 when there are any
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { join, relative } from 'node:path';
import { parseArgs } from 'node:util';
import { ensureInstalled, root } from './ensure-installed.mjs';

await ensureInstalled(import.meta.url);
const { readList } = await import('./requirements/ids.mjs');
const { titlesIn } = await import('./requirements/titles.mjs');
const { coverageOf, isProven, unknownIds } = await import('./requirements/coverage.mjs');

const { values, positionals } = parseArgs({
  options: { json: { type: 'boolean', default: false }, missing: { type: 'boolean', default: false } },
  allowPositionals: true,
});

const filesBelow = (directory, matches) =>
  existsSync(directory)
    ? readdirSync(directory, { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile() && matches(entry.name) && !/node_modules|\/dist(\/|$)/.test(entry.parentPath))
        .map((entry) => join(entry.parentPath, entry.name))
    : [];

const list = readList(readFileSync(join(root, 'docs/requirements.md'), 'utf8'));
const specs = ['libs', 'apps', 'test']
  .flatMap((directory) => filesBelow(join(root, directory), (name) => name.endsWith('.spec.ts')))
  .map((path) => ({ spec: relative(root, path), titles: titlesIn(path, readFileSync(path, 'utf8')) }));
const runs = filesBelow(join(root, '.test-results'), (name) => name.endsWith('.json')).map((path) =>
  JSON.parse(readFileSync(path, 'utf8')),
);

const unlisted = positionals.filter((id) => !list.has(id));
if (unlisted.length > 0) {
  process.stderr.write(`docs/requirements.md does not list ${unlisted.join(', ')}\n`);
  process.exit(2);
}

const coverage = coverageOf(list.keys(), specs, runs);
const asked = positionals.length > 0 ? positionals : [...list.keys()];
const shown = values.missing ? asked.filter((id) => !isProven(coverage.get(id))) : asked;

if (values.json) {
  const entries = shown.map((id) => ({
    id,
    text: list.get(id),
    proven: isProven(coverage.get(id)),
    tests: coverage.get(id),
  }));
  process.stdout.write(`${JSON.stringify({ requirements: entries }, null, 2)}\n`);
} else {
  const marks = { passed: '+', failed: '!', 'did not run': '-' };
  for (const id of shown) {
    process.stdout.write(`${id.padEnd(6)} ${isProven(coverage.get(id)) ? 'proven' : 'open  '} ${list.get(id)}\n`);
    for (const { spec, title, status } of coverage.get(id)) {
      const suffix = status === 'passed' ? '' : ` [${status}]`;
      process.stdout.write(`         ${marks[status]} ${spec}: ${title}${suffix}\n`);
    }
  }
  const open = asked.filter((id) => !isProven(coverage.get(id))).length;
  process.stdout.write(`${asked.length - open} of ${asked.length} proven by tests that ran and passed\n`);
}

const unknown = unknownIds(list.keys(), specs);
for (const { spec, id } of unknown)
  process.stderr.write(`${spec} carries ${id}, which docs/requirements.md does not list\n`);
if (unknown.length > 0 || (values.missing && shown.length > 0)) process.exit(1);

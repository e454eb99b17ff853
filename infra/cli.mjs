// `npm run cli -- …`: runs the CLI from a checkout, and builds it first when something that it is made of has changed. Nothing here
// writes to standard output, which belongs to the CLI.
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { ensureInstalled, root, run } from './ensure-installed.mjs';

await ensureInstalled(import.meta.url);
const { build, CLI_FILE, INPUTS_FILE } = await import('../apps/cli/build.mjs');

const modifiedAt = (file) => statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? null;

const isStale = () => {
  const built = modifiedAt(CLI_FILE);
  if (built === null || modifiedAt(INPUTS_FILE) === null) return true;
  return JSON.parse(readFileSync(INPUTS_FILE, 'utf8')).some((input) => {
    const modified = modifiedAt(join(root, input));
    return modified === null || modified > built;
  });
};

if (isStale()) await build();
// In the directory where `npm run` was called, so that paths mean what the person meant.
process.exit(await run('node', [CLI_FILE, ...process.argv.slice(2)], { cwd: process.env.INIT_CWD ?? process.cwd() }));

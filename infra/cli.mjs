// `npm run cli -- …`: runs the CLI from a checkout. Builds the bundle when something that it is made of is newer, and says nothing on
// stdout, which belongs to the CLI.
import { spawn } from 'node:child_process';
import { mkdirSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ensureInstalled, root } from './ensure-installed.mjs';

await ensureInstalled(import.meta.url);

const bundle = join(root, 'dist/apps/cli/rollcall.mjs');
const inputList = join(root, 'dist/apps/cli/inputs.json');

const modifiedAt = (file) => statSync(file, { throwIfNoEntry: false })?.mtimeMs;

const isStale = () => {
  const built = modifiedAt(bundle);
  if (built === undefined || modifiedAt(inputList) === undefined) return true;
  const inputs = [...JSON.parse(readFileSync(inputList, 'utf8')), 'apps/cli/build.mjs', 'package-lock.json'];
  return inputs.some((input) => (modifiedAt(join(root, input)) ?? Infinity) > built);
};

if (isStale()) {
  const { inputs } = await import('../apps/cli/build.mjs');
  mkdirSync(join(root, 'dist/apps/cli'), { recursive: true });
  // Whole or not at all: two runs may find it stale at once.
  writeFileSync(`${inputList}.${process.pid}`, JSON.stringify(inputs));
  renameSync(`${inputList}.${process.pid}`, inputList);
}

// The directory that `npm run` was called in, so that paths mean what the person meant.
const cwd = process.env.INIT_CWD ?? process.cwd();
const child = spawn(process.execPath, [bundle, ...process.argv.slice(2)], { stdio: 'inherit', cwd });
// Ctrl-C reaches the child by itself; this process only waits for what the child makes of it.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'])
  process.on(signal, () => signal !== 'SIGINT' && child.kill(signal));
child.on('exit', (code, signal) => {
  if (signal) {
    process.removeAllListeners(signal);
    process.kill(process.pid, signal);
  } else process.exitCode = code ?? 1;
});

// The door of every command in a checkout. It runs on whatever Node the machine has (20.11 or newer) and without a single
// package: it installs what package-lock.json names, then goes on under the Node version that the lock file carries.
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The checkout's root directory. */
export const root = dirname(dirname(fileURLToPath(import.meta.url)));

const bin = join(root, 'node_modules', '.bin');
const projectNode = join(bin, 'node');

const lockedPackages = (file) => (existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')).packages : null);

/**
 * Compares what the lock file wants with what npm noted that it installed.
 *
 * A package that is optional and not there is one for another platform; one that is there and not wanted does no harm.
 *
 * @returns {'absent' | 'stale' | 'fresh'}
 */
export const installState = (directory = root) => {
  const installed = lockedPackages(join(directory, 'node_modules', '.package-lock.json'));
  if (!installed || !existsSync(join(directory, 'node_modules', '.bin', 'node'))) return 'absent';
  const wanted = lockedPackages(join(directory, 'package-lock.json'));
  const isMissing = ([path, entry]) => {
    if (!path.startsWith('node_modules/')) return false;
    const found = installed[path];
    if (!found) return !(entry.optional || entry.devOptional);
    return found.version !== entry.version || found.resolved !== entry.resolved;
  };
  return Object.entries(wanted).some(isMissing) ? 'stale' : 'fresh';
};

const install = (state) => {
  // `npm ci` empties node_modules first, which would pull the floor from under a plane that runs from this checkout; so it is
  // only for a checkout that has none. `--no-save` leaves the lock file as it is.
  const args = state === 'absent' ? ['ci'] : ['install', '--no-save'];
  process.stderr.write(`rollcall: installing packages (npm ${args.join(' ')}) …\n`);
  const { status } = spawnSync('npm', [...args, '--loglevel=error'], { cwd: root, stdio: ['ignore', 2, 2] });
  if (status !== 0) {
    process.stderr.write('rollcall: npm could not install the packages; see above\n');
    process.exit(1);
  }
};

/**
 * Runs a program with the checkout's own tools first in PATH; resolves to its exit code, 128 + n after signal n. Signals that
 * this process gets meanwhile are passed on. `onSpawn` gets the child, for its streams.
 */
export const run = (command, args, { env = {}, onSpawn = () => {}, ...options } = {}) =>
  new Promise((resolve, reject) => {
    const child = spawn(command, args, {
      cwd: root,
      stdio: 'inherit',
      ...options,
      env: { ...process.env, ...env, PATH: `${bin}${delimiter}${process.env.PATH}` },
    });
    onSpawn(child);
    // One Ctrl-C may arrive here several times: the terminal sends it to the whole group, npm passes it on as well. The program
    // gets it once; where there is a terminal, from the terminal. A second one would tell it to end at once.
    const passedOn = new Map();
    const forward = (signal) => {
      const isRepeated = performance.now() - (passedOn.get(signal) ?? -Infinity) < 1_000;
      passedOn.set(signal, performance.now());
      if (!isRepeated && !(signal === 'SIGINT' && process.stdin.isTTY)) child.kill(signal);
    };
    const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'];
    for (const signal of signals) process.on(signal, forward);
    child.once('error', reject);
    child.once('exit', (code, signal) => {
      for (const name of signals) process.off(name, forward);
      resolve(code ?? 128 + ({ SIGHUP: 1, SIGINT: 2, SIGKILL: 9, SIGTERM: 15 }[signal] ?? 0));
    });
  });

/**
 * Makes sure that the packages are there and that this process runs on the project's Node; where it does not, the script is
 * started again on it and this call never returns.
 *
 * @param {string} script the caller's `import.meta.url`
 */
export const ensureInstalled = async (script) => {
  const state = installState();
  if (state !== 'fresh') install(state);
  const { version } = JSON.parse(readFileSync(join(root, 'node_modules', 'node', 'package.json'), 'utf8'));
  if (process.versions.node === version) return;
  process.exit(await run(projectNode, [...process.execArgv, fileURLToPath(script), ...process.argv.slice(2)]));
};

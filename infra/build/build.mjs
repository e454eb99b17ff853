// `npm run build [-- --if-stale]`: everything that runs outside a test.
//
//   dist/apps/<app>/main.js   what `nest build` makes of the apps in nest-cli.json
//   apps/<app>/build.mjs      the bundles of the plain Node programs, each made by its own app
//   dist/infra/migrations/    the SQL files that the built plane carries
import { createHash } from 'node:crypto';
import { cpSync, existsSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { ensureInstalled, root, run } from '../ensure-installed.mjs';

await ensureInstalled(import.meta.url);

const dist = join(root, 'dist');
const stamp = join(dist, '.sources');
const lock = join(dist, '.building');
const started = performance.now();

const SOURCES = [
  'libs',
  'apps',
  'infra/build',
  'infra/migrations',
  'nest-cli.json',
  'package-lock.json',
  'tsconfig.json',
];
const isSource = (path) => !/(^|\/)(dist|node_modules)(\/|$)|\.spec\.ts$/.test(path);

/** One hash over the names and contents of all that a build reads. */
const hashOfSources = () => {
  const hash = createHash('sha256');
  const add = (path) => {
    if (!isSource(path)) return;
    const full = join(root, path);
    const entries = readdirSyncOrNull(full);
    if (entries) for (const entry of entries.toSorted()) add(join(path, entry));
    else hash.update(`${path}\0`).update(readFileSync(full)).update('\0');
  };
  for (const source of SOURCES) add(source);
  return hash.digest('hex');
};

const readdirSyncOrNull = (path) => {
  try {
    return readdirSync(path);
  } catch (error) {
    if (error.code === 'ENOTDIR') return null;
    throw error;
  }
};

/** Two builds into one directory would let a starting process read half a file: the second waits for the first. */
const takeLock = async () => {
  mkdirSync(dist, { recursive: true });
  let lookedAtEmpty = 0;
  for (;;) {
    try {
      writeFileSync(lock, String(process.pid), { flag: 'wx' });
      process.once('exit', () => rmSync(lock, { force: true }));
      return;
    } catch (error) {
      if (error.code !== 'EEXIST') throw error;
      const holder = holderOfLock();
      // Between its creation and its first byte it is nobody's yet, and somebody's in a moment.
      if (holder === '' && lookedAtEmpty < 20) lookedAtEmpty += 1;
      else if (!isRunning(Number(holder))) rmSync(lock, { force: true });
      await wait(100);
    }
  }
};

/** What the lock says; '' while its owner has not written it, or has just let it go. */
const holderOfLock = () => {
  try {
    return readFileSync(lock, 'utf8');
  } catch (error) {
    if (error.code === 'ENOENT') return '';
    throw error;
  }
};

const isRunning = (pid) => {
  try {
    process.kill(pid, 0);
    return pid > 0;
  } catch {
    return false;
  }
};

/** Runs a step and keeps its words for the case that it fails. */
const step = async (name, command, args) => {
  const chunks = [];
  const code = await run(command, args, {
    stdio: ['ignore', 'pipe', 'pipe'],
    onSpawn: (child) => {
      child.stdout.on('data', (chunk) => chunks.push(chunk));
      child.stderr.on('data', (chunk) => chunks.push(chunk));
    },
  });
  if (code === 0) return;
  process.stderr.write(Buffer.concat(chunks));
  throw new Error(`build: ${name} failed (exit code ${code})`);
};

const nestApps = () => Object.keys(JSON.parse(readFileSync(join(root, 'nest-cli.json'), 'utf8')).projects);
const plainApps = () =>
  readdirSync(join(root, 'apps')).filter((app) => existsSync(join(root, 'apps', app, 'build.mjs')));

const steps = () => [
  ...nestApps().map((app) => () => step(`nest build ${app}`, 'nest', ['build', app])),
  ...plainApps().map((app) => () => step(`apps/${app}/build.mjs`, 'node', [join('apps', app, 'build.mjs')])),
];

/** Two at a time: a build is mostly one busy thread, and the smallest machine that we build on has two cores. */
const inPairs = async (queue) => {
  const failures = [];
  const worker = async () => {
    for (let next = queue.shift(); next; next = queue.shift())
      await next().catch((error) => failures.push(error.message));
  };
  await Promise.all([worker(), worker()]);
  return failures;
};

await takeLock();
const wanted = hashOfSources();
if (process.argv.includes('--if-stale') && existsSync(stamp) && readFileSync(stamp, 'utf8') === wanted) process.exit(0);

rmSync(stamp, { force: true });
const failures = await inPairs(steps());
if (failures.length > 0) {
  process.stderr.write(`${failures.join('\n')}\n`);
  process.exit(1);
}
rmSync(join(dist, 'infra'), { recursive: true, force: true });
cpSync(join(root, 'infra/migrations'), join(dist, 'infra/migrations'), { recursive: true });
writeFileSync(stamp, wanted);
process.stderr.write(
  `build: ${relative(root, dist)}/ is up to date (${((performance.now() - started) / 1000).toFixed(1)} s)\n`,
);

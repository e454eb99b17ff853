// `npm run pack-and-boot`: what an operator would deploy. Installs the production packages beside the built services in an empty
// directory, boots each service there against a fresh database, waits until it says that it is ready, and stops it in order.
import { spawn, spawnSync } from 'node:child_process';
import { randomBytes, randomInt } from 'node:crypto';
import { cpSync, globSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { ensureInstalled, root, run } from './ensure-installed.mjs';

await ensureInstalled(import.meta.url);

const READY_WITHIN_MS = 60_000;
const STOP_WITHIN_MS = 12_000;

const directory = mkdtempSync(join(tmpdir(), 'rollcall-pack-'));
const cluster = mkdtempSync(join(tmpdir(), 'rollcall-pack-db-'));
const failures = [];

// Below the ports that the kernel gives to whoever asks for any, and beside those of the tests: the lab may work at the same time.
let nextPort = randomInt(31_000, 32_700);
const freePort = () =>
  new Promise((resolve) => {
    const port = nextPort++;
    const probe = createServer().listen(port, '127.0.0.1', () => probe.close(() => resolve(port)));
    probe.once('error', () => resolve(freePort()));
  });

/** Only what a release holds: the built services, the migrations, and the manifests that name the packages. */
const pack = () => {
  const manifests = globSync('{libs,apps}/*/package.json', { cwd: root });
  for (const path of ['package.json', 'package-lock.json', '.npmrc', 'dist', ...manifests]) {
    mkdirSync(dirname(join(directory, path)), { recursive: true });
    cpSync(join(root, path), join(directory, path), { recursive: true });
  }
};

/** A database as operators make one: migrated by its owner, and used by the application role. */
const openDatabase = async () => {
  const script = join(root, 'test/support/test-cluster.mjs');
  const port = await freePort();
  const { status, stdout, stderr } = spawnSync('node', [script, 'up', cluster, String(port)], {
    cwd: root,
    encoding: 'utf8',
  });
  if (status !== 0) throw new Error(`The database did not start:\n${stdout}${stderr}`);
  const url = new URL(JSON.parse(stdout.trim().split('\n').at(-1)).url);
  const { Client } = (await import('pg')).default;
  const client = new Client({ connectionString: url.href });
  await client.connect();
  await client.query('create database rollcall template template_rollcall');
  await client.end();
  Object.assign(url, { username: 'rollcall_app', password: 'rollcall_app', pathname: '/rollcall' });
  return url.href;
};

/** The status of a health endpoint; null while nobody answers. Whose certificate it is is not what is tried here. */
const statusOf = (url) =>
  new Promise((resolve) => {
    const request = url.startsWith('https:') ? requestHttps : requestHttp;
    request(url, { rejectUnauthorized: false, timeout: 2_000, agent: false }, (answer) => {
      answer.resume();
      resolve(answer.statusCode);
    })
      .on('timeout', function giveUp() {
        this.destroy();
      })
      .on('error', () => resolve(null))
      .end();
  });

const isReady = async (url, hasEnded) => {
  const deadline = performance.now() + READY_WITHIN_MS;
  while (!hasEnded() && performance.now() < deadline) {
    if ((await statusOf(url)) === 200) return true;
    await wait(50);
  }
  return false;
};

const boot = async (app, readiness, env, args = []) => {
  const started = performance.now();
  const output = [];
  const child = spawn('node', ['--enable-source-maps', join('dist/apps', app, 'main.js'), ...args], {
    cwd: directory,
    env: { PATH: process.env.PATH, HOME: process.env.HOME, NODE_ENV: 'production', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  child.stdout.on('data', (chunk) => output.push(chunk));
  child.stderr.on('data', (chunk) => output.push(chunk));
  let end = null;
  const ended = new Promise((resolve) => {
    child.once('close', (code, signal) => resolve((end = code ?? signal)));
  });
  const ready = await isReady(readiness, () => end !== null);
  const seconds = ((performance.now() - started) / 1000).toFixed(1);
  if (end === null) child.kill('SIGTERM');
  const overdue = setTimeout(() => child.kill('SIGKILL'), STOP_WITHIN_MS);
  await ended;
  clearTimeout(overdue);
  if (ready && end === 0) {
    process.stdout.write(`${app}: ready after ${seconds} s, stopped in order\n`);
    return;
  }
  failures.push(app);
  process.stdout.write(
    `${app}: ${ready ? `ready, but ended with ${end}` : `not ready (${end})`}\n${Buffer.concat(output).toString()}\n`,
  );
};

try {
  if ((await run('node', ['infra/build/build.mjs', '--if-stale'])) !== 0) throw new Error('There is nothing to pack');
  pack();
  if ((await run('npm', ['ci', '--omit=dev', '--loglevel=error'], { cwd: directory })) !== 0)
    throw new Error('npm ci failed');

  const chainKey = join(directory, 'chain.key');
  writeFileSync(chainKey, randomBytes(32).toString('base64'), { mode: 0o600 });
  const ports = { machine: await freePort(), operator: await freePort(), projector: await freePort() };
  const env = {
    ROLLCALL_DATABASE_URL: await openDatabase(),
    ROLLCALL_MIGRATIONS_DIR: join(directory, 'dist/infra/migrations'),
    ROLLCALL_CA_DIR: join(directory, 'ca'),
    ROLLCALL_CHAIN_KEY_FILE: chainKey,
    ROLLCALL_MACHINE_API_PORT: String(ports.machine),
    ROLLCALL_OPERATOR_API_PORT: String(ports.operator),
    ROLLCALL_PROJECTOR_PORT: String(ports.projector),
  };
  await boot('machine-api', `https://127.0.0.1:${ports.machine}/readyz`, env);
  await boot('operator-api', `https://127.0.0.1:${ports.operator}/readyz`, env);
  await boot('projector', `http://127.0.0.1:${ports.projector}/readyz`, env);
  const own = [
    `--data=${join(directory, 'plane')}`,
    `--postgres-port=${await freePort()}`,
    `--nats-port=${await freePort()}`,
  ];
  const given = Object.entries(ports).map(([name, port]) => `--${name}-port=${port}`);
  await boot('standalone', `https://127.0.0.1:${ports.machine}/readyz`, {}, [...own, ...given]);
} catch (error) {
  failures.push(error.message);
  process.stdout.write(`${error.message}\n`);
} finally {
  spawnSync('node', [join(root, 'test/support/test-cluster.mjs'), 'down', cluster], { cwd: root, stdio: 'inherit' });
  rmSync(directory, { recursive: true, force: true });
}
process.exitCode = failures.length === 0 ? 0 : 1;

import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { eventually, freePort } from '../support/processes.js';

const root = resolve(import.meta.dirname, '../..');

let base: string;
let child: ChildProcess;
let output = '';

/** `npm start` as the foreground group of a terminal, so that a Ctrl-C reaches all of it, also programs that run for a moment only. */
const start = async () => {
  const ports = ['machine', 'operator', 'projector', 'postgres', 'nats'];
  const flags = await Promise.all(ports.map(async (name) => [`--${name}-port`, String(await freePort())]));
  output = '';
  child = spawn(process.execPath, ['infra/start.mjs', '--data', join(base, 'data'), ...flags.flat()], {
    cwd: root,
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  child.stdout?.on('data', (chunk) => (output += String(chunk)));
  child.stderr?.on('data', (chunk) => (output += String(chunk)));
};
const shows = (text: string) => eventually(text, () => Promise.resolve(output.includes(text)), 120_000);
const pressControlC = () => process.kill(-(child.pid ?? Number.NaN), 'SIGINT');
const exited = async () => (child.exitCode === null ? ((await once(child, 'exit')) as [number])[0] : child.exitCode);

/** What works on the directory: the plane, PostgreSQL, NATS, the agent. */
const left = (): readonly string[] =>
  readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(commandOf)
    .filter((command) => command.includes(base));

beforeEach(async () => {
  base = await mkdtemp(join(tmpdir(), 'rollcall-cut-short-'));
});
afterEach(async () => {
  if (child.exitCode === null && child.signalCode === null) process.kill(-(child.pid ?? Number.NaN), 'SIGKILL');
  await rm(base, { recursive: true, force: true });
});

it.each([
  ['while the database is made', 'PostgreSQL starts'],
  ['while the services start', 'Migrations:'],
  ['while NATS starts', 'NATS '],
  ['while the agent starts', 'The local agent is enrolled.'],
])(
  'a Ctrl-C %s ends the start in order, without the noise of a failure and with nothing left running (U8)',
  async (_, moment) => {
    await start();
    await shows(moment);
    const at = performance.now();
    pressControlC();
    expect(await exited()).toBe(0);
    expect(performance.now() - at).toBeLessThan(10_000);
    expect(output).toContain('Rollcall stops');
    expect(output).not.toContain('did not start');
    if (moment !== 'The local agent is enrolled.') expect(output).not.toContain('/sign-in#');
    expect(left()).toEqual([]);
  },
  180_000,
);

const commandOf = (pid: string): string => {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ');
  } catch {
    return '';
  }
};

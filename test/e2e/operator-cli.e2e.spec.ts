import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it, jest } from '@jest/globals';
import type { MachineView } from '@rollcall/wire';
import { startOperatorPlane, type OperatorPlane } from '../support/operator-plane.js';
import { Processes } from '../support/processes.js';

jest.setTimeout(60_000);

const root = join(import.meta.dirname, '../..');
const processes = new Processes();
let plane: OperatorPlane;
let home: string;

beforeAll(async () => {
  [plane, home] = await Promise.all([startOperatorPlane(), mkdtemp(join(tmpdir(), 'rollcall-cli-'))]);
});
afterAll(async () => {
  await processes.close();
  await Promise.all([plane.close(), rm(home, { recursive: true })]);
});

const environment = () => ({ ROLLCALL_CONFIG_DIR: join(home, 'config'), INIT_CWD: home });
const rollcall = (...argv: string[]) => ({
  run: (input?: string) =>
    processes.run('rollcall', process.execPath, [join(root, 'infra/cli.mjs'), ...argv], {
      env: environment(),
      ...(input === undefined ? {} : { input }),
    }),
  // The bundle itself, so that a signal meets nothing else on its way.
  start: () =>
    processes.start('rollcall', process.execPath, [join(root, 'dist/apps/cli/rollcall.mjs'), ...argv], {
      env: environment(),
    }),
});

it('runs from a checkout, signs in, watches changes as they come, and ends with 130 on Ctrl-C (U6)', async () => {
  expect(await rollcall('machines').run()).toMatchObject({ code: 3, stdout: '' });
  expect(await rollcall('login').run(await plane.link())).toMatchObject({ code: 0 });

  const machine = await plane.join({ name: 'watched' });
  await machine.check();
  await plane.caughtUp();
  const watching = await rollcall('machines', 'watch', '--json').start();
  await watching.waitFor(/"change":"seen"/);
  await machine.check({ blockers: ['disk-full'] });
  await watching.waitFor(/"change":"changed"/);
  watching.signal('SIGINT');
  expect(await watching.exited).toEqual({ code: 130, signal: null });
  const lines = watching
    .stdout()
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as { change: string; machine: MachineView });
  expect(
    lines.map(({ change, machine: { name, blockers } }) => [change, name, blockers.map(({ code }) => code)]),
  ).toEqual([
    ['seen', 'watched', []],
    ['changed', 'watched', ['disk-full']],
  ]);
  expect(watching.output()).toBe(watching.stdout());

  expect(JSON.parse((await rollcall('machines', '--json').run()).stdout)).toMatchObject({
    machines: [{ name: 'watched', presence: 'present' }],
  });
});

it('leaves with 0 when whoever reads its output has enough', async () => {
  const { code, output } = await processes.run('head', '/bin/bash', [
    '-c',
    `set -o pipefail; "${process.execPath}" "${join(root, 'dist/apps/cli/rollcall.mjs')}" --help | true`,
  ]);
  expect({ code, output }).toEqual({ code: 0, output: '' });
});

it('says in one sentence that its answer cannot be written (U6)', async () => {
  const program = `"${process.execPath}" "${join(root, 'dist/apps/cli/rollcall.mjs')}"`;
  const full = await processes.run('rollcall', '/bin/sh', ['-c', `${program} version >/dev/full`]);
  expect(full.code).toBe(1);
  expect(full.output).toMatch(/^The answer cannot be written: ENOSPC.*\.\n$/);
});

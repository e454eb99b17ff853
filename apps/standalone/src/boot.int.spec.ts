import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { freePort } from '../../../test/support/processes.js';
import { DirectoryInUse, openDataDirectory, openPlane, OpenedInOrder, welcome, type Plane } from './index.js';

const migrations = resolve(import.meta.dirname, '../../../infra/migrations');
const opened = new OpenedInOrder();
const steps: string[] = [];
let base: string;
let plane: Plane;

beforeAll(async () => {
  base = await mkdtemp(join(tmpdir(), 'rollcall-boot-'));
  const directory = await openDataDirectory(join(base, 'data'));
  opened.add({ close: () => directory.release() });
  const ports = {
    machinePort: await freePort(),
    operatorPort: await freePort(),
    projectorPort: await freePort(),
    postgresPort: await freePort(),
    natsPort: await freePort(),
  };
  const options = { data: directory.root, person: 'Ada', agent: false, nats: false, metrics: true, ...ports };
  plane = await openPlane(directory, options, { migrations, opened, tell: (line) => steps.push(line) });
}, 90_000);

afterAll(async () => {
  await opened.close();
  await rm(base, { recursive: true, force: true });
}, 30_000);

it('boots the three apps in one process on a PostgreSQL of its own (U8)', async () => {
  expect(steps.join('\n')).toContain('0001_record');
  const answer = await fetch(`${plane.projector.url}/readyz`);
  expect(answer.status).toBe(200);
  expect(plane.machineApi.pins).toEqual(plane.operatorApi.pins);
});

it('shows the metrics of each app apart from those of the others, where it is asked to', async () => {
  const scrapes = await Promise.all(plane.metricsUrls.map(async (url) => (await fetch(url)).text()));
  const own = [/^rollcall_read_model_leading\{/m, /^rollcall_http_unavailable_total /m, /^rollcall_checks_total\{/m];
  expect(own.map((metric) => scrapes.map((text) => metric.test(text)))).toEqual([
    [true, false, false],
    [false, true, true],
    [false, false, true],
  ]);
});

it('makes one first person, however often it is started, and a new link each time (U8)', async () => {
  const first = await welcome(plane, 'Ada');
  const second = await welcome(plane, 'Grace');
  expect(second.personId).toBe(first.personId);
  expect(second.link).not.toBe(first.link);
});

it('lets one plane at a time have a directory, and the next when it has gone (U8)', async () => {
  await expect(openDataDirectory(join(base, 'data'))).rejects.toThrow(DirectoryInUse);
  await expect(openDataDirectory(join(base, 'data'))).rejects.toThrow(`process ${process.pid}`);
  const other = await openDataDirectory(join(base, 'other'));
  await other.release();
  await (await openDataDirectory(join(base, 'other'))).release();
});

it('says which directory cannot be used, and how to choose another (U8)', async () => {
  const file = join(base, 'file');
  await writeFile(file, '');
  await expect(openDataDirectory(file)).rejects.toThrow(`Nothing can be kept in ${file}`);
  await expect(openDataDirectory(join(file, 'below'))).rejects.toThrow('--data DIR');
});

it('keeps the agent’s socket with its state, and in a short place where that path is too long for a socket (U8)', async () => {
  const short = await openDataDirectory(join(base, 'short'));
  expect(short.agentRuntime).toBe(short.agent);
  const long = await openDataDirectory(join(base, 'x'.repeat(100)));
  expect(Buffer.byteLength(join(long.agentRuntime, 'control.sock'))).toBeLessThan(108);
  await Promise.all([short.release(), long.release()]);
});

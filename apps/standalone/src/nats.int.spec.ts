import { mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { NatsFeed } from '@rollcall/feed-nats';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { freePort } from '../../../test/support/processes.js';
import { requireSystemTool } from '../../../test/support/system-tool.js';
import { openDataDirectory, type DataDirectory } from './data-directory.js';
import { natsEnvironment, openNats } from './nats.js';
import { readOptions, type StandaloneOptions } from './options.js';

let base: string;
let directory: DataDirectory;
let options: StandaloneOptions;
const told: string[] = [];
const tell = (line: string) => void told.push(line);

beforeAll(async () => {
  await requireSystemTool('nats-server');
  base = await mkdtemp(join(tmpdir(), 'rollcall-standalone-nats-'));
  directory = await openDataDirectory(join(base, 'data'));
  const argv = ['node', 'main.js', '--nats-port', String(await freePort())];
  options = readOptions(argv, { userName: 'ada', directory: base });
}, 120_000);
afterAll(async () => {
  await directory.release();
  await rm(base, { recursive: true, force: true });
});

it('says how to get a nats-server where there is none, and goes on without (U8)', async () => {
  expect(await openNats(directory, options, tell, () => Promise.resolve(null))).toBeNull();
  expect(told.splice(0)).toEqual([expect.stringContaining('apt install nats-server')]);
});

it('runs none, and says nothing, where none is wanted (U8)', async () => {
  expect(await openNats(directory, { ...options, nats: false }, tell)).toBeNull();
  expect(told).toEqual([]);
});

it('runs one with streams that fit a small disk, for a projector that is told where it is (U8)', async () => {
  const nats = await openNats(directory, options, tell);
  if (nats === null) throw new Error('None was found');
  const environment = natsEnvironment(nats);
  const read = (name: string) => environment[`ROLLCALL_NATS_${name}`] ?? '';
  const feed = await NatsFeed.connect({
    servers: [read('URL')],
    credentials: { relay: read('RELAY_CREDENTIALS_FILE'), reader: read('READER_CREDENTIALS_FILE') },
    sizes: {
      eventBytes: Number(read('EVENTS_MIB')) * 1024 ** 2,
      batchBytes: Number(read('BATCHES_MIB')) * 1024 ** 2,
    },
  });
  expect(await feed.bringToSetup(AbortSignal.timeout(10_000))).toEqual([]);
  expect((await stat(directory.nats)).mode & 0o777).toBe(0o700);
  await feed.close();
  await nats.stop();
});

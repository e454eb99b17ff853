import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { freePort } from '../../../test/support/processes.js';
import { startNats, type TestNats } from '../../../test/support/nats.js';
import { run } from './index.js';

let nats: TestNats;

beforeAll(async () => {
  nats = await startNats();
}, 120_000);
afterAll(() => nats.close());

const setup = async (args: readonly string[], environment: Record<string, string> = {}) => {
  const lines: string[] = [];
  const say = (line: string) => void lines.push(line);
  const settings = {
    ROLLCALL_NATS_URL: nats.url,
    ROLLCALL_NATS_RELAY_CREDENTIALS_FILE: nats.credentials.relay,
    ROLLCALL_NATS_READER_CREDENTIALS_FILE: nats.credentials.projector,
    ROLLCALL_NATS_EVENTS_MIB: '64',
    ROLLCALL_NATS_BATCHES_MIB: '32',
    ...environment,
  };
  const code = await run(['feed', ...args], { environment: settings, out: say, err: say });
  return { code, lines };
};

it('shows what is not as it must be at NATS, and changes it only when told to', async () => {
  const missing = ['stream ROLLCALL is not there', 'stream ROLLCALL_BATCHES is not there'];
  const shown = { code: 1, lines: [...missing, 'To change this: rollcall-setup feed --apply'] };
  expect(await setup([])).toEqual(shown);
  expect(await setup([])).toEqual(shown);
  expect(await setup(['--apply'])).toEqual({ code: 0, lines: missing.map((line) => `changed: ${line}`) });
  expect(await setup([])).toEqual({ code: 0, lines: ['The feed is set up as it must be.'] });
});

it('names a size that differs from the one that is configured, and brings it about', async () => {
  const larger = { ROLLCALL_NATS_BATCHES_MIB: '48' };
  await setup(['--apply']);
  const difference = 'max_bytes of stream ROLLCALL_BATCHES is 33554432, and should be 50331648';
  expect((await setup([], larger)).lines).toContain(difference);
  expect(await setup(['--apply'], larger)).toEqual({ code: 0, lines: [`changed: ${difference}`] });
});

it('says in a sentence that NATS is not reached', async () => {
  const { code, lines } = await setup([], { ROLLCALL_NATS_URL: `nats://127.0.0.1:${await freePort()}` });
  expect(code).toBe(1);
  expect(lines).toEqual([expect.stringMatching(/^rollcall-setup: .*refused/i)]);
});

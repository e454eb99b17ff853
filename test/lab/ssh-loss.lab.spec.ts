import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { requireRoot } from '../support/as-root.js';
import { bundled, type Bundled } from '../support/bundled.js';
import { Processes } from '../support/processes.js';
import { requireSystemTool } from '../support/system-tool.js';

// Not part of a submission, because its times are the real ones: `npm run test:lab -- --testPathPatterns ssh-loss`. As root, and without containers: a
// network namespace of its own, in which nothing but the loopback is there and iptables may drop.

const processes = new Processes();
let program: Bundled;

beforeAll(async () => {
  requireRoot('makes a network namespace');
  await requireSystemTool('sshd', 'openssh-server');
  await requireSystemTool('iptables');
  program = await bundled(join(import.meta.dirname, 'ssh-loss/session.ts'));
});
afterAll(async () => {
  await program[Symbol.asyncDispose]();
  await processes.close();
});

const inNamespace = async (...args: string[]): Promise<Record<string, unknown>> => {
  const setUp = 'ip link set lo up && exec "$@"';
  const command = ['--net', 'sh', '-c', setUp, 'sh', process.execPath, program.path, ...args];
  const { code, stdout, output } = await processes.run('session', 'unshare', command);
  if (code !== 0) throw new Error(output);
  return JSON.parse(stdout) as Record<string, unknown>;
};

it('declares a zombie lost between 45 and 61 s after its last answer, and lets a stop pass it by before (C28, T-1.3, T-1.6, T-2.11)', async () => {
  const { lostAfter, stopTook, ...result } = await inNamespace('zombie');
  expect(result).toEqual({
    cutBy: 'ECONNRESET',
    refusedBy: 'ECONNREFUSED',
    stopped: { cleanUp: 'skipped', farStop: 'skipped', canBeResumed: true },
    status: 'disconnected',
    losses: [
      { session: 'one', remoteHost: '127.0.0.1', cause: 'silence', silence: expect.any(Number), failedCloses: {} },
    ],
    commands: 0,
  });
  expect(lostAfter).toBeGreaterThan(45_000);
  expect(lostAfter).toBeLessThan(61_000);
  expect(stopTook).toBeLessThan(2_000);
}, 180_000);

it('keeps a session for ten minutes on a path of 350 ms, 12.5 % loss and 1 Mbit/s that four transfers fill (C29)', async () => {
  const { carried, answers, slowest, ...result } = await inNamespace('busy', '600');
  expect(result).toMatchObject({ losses: [], status: expect.stringMatching(/^(?:connected|unresponsive)$/) });
  expect(carried).toBeGreaterThan(1_000_000);
  expect(answers).toBeGreaterThan(3);
  // The path was busy: an answer that comes at once would prove nothing.
  expect(slowest).toBeGreaterThan(5_000);
}, 780_000);

import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { token, tokenStream } from '@rollcall/admission';
import type { EventStore } from '@rollcall/event-store';
import { encodeEnrolmentToken, hashOf, makeSecret } from '@rollcall/wire';
import { cpuOfProcess, residentMegabytes } from './cpu.js';
import { at } from './load.js';
import type { Begun } from './servers.js';

const execute = promisify(execFile);
const programIn = (root: string): string => join(root, 'dist/apps/agent/rollcall-agent.mjs');

/** How long `rollcall-agent version` takes, in milliseconds: the middle one of seven. */
export const agentVersionMs = async (root: string): Promise<number> => {
  const times: number[] = [];
  for (let run = 0; run < 7; run += 1) {
    const from = performance.now();
    await execute(process.execPath, [programIn(root), 'version']);
    times.push(performance.now() - from);
  }
  return at(
    times.sort((a, b) => a - b),
    0.5,
  );
};

/** What an agent takes that has nothing to do but to check in: memory in megabytes, CPU in percent of one core. */
export type IdleAgent = { readonly megabytes: number; readonly cpuPercent: number };

/** Enrols the real agent, lets it run at the interval of production, and looks at a minute of it. */
export const measureIdleAgent = async (
  root: string,
  begun: Begun,
  {
    store,
    directory,
    address,
    pins,
  }: { store: EventStore; directory: string; address: string; pins: readonly string[] },
): Promise<IdleAgent> => {
  const secret = makeSecret('rce');
  await store.decide(
    token,
    { stream: tokenStream(randomUUID()) },
    { type: 'IssueToken', tokenHash: hashOf(secret), owner: 'bench', name: null, expiresIn: 3_600 },
    { actor: { kind: 'person', id: 'bench' } },
  );
  const place = ['--state-dir', join(directory, 'agent')];
  const enrolling = execute(process.execPath, [programIn(root), 'enrol', ...place]);
  enrolling.child.stdin?.end(encodeEnrolmentToken({ address, pins, secret }));
  await enrolling;
  const agent = await begun.serve([programIn(root), 'run', ...place], /is running, process/);
  await sleep(SETTLE_MS);
  const before = await cpuOfProcess(agent.pid);
  await sleep(WATCH_MS);
  const cpuPercent = (((await cpuOfProcess(agent.pid)) - before) / WATCH_MS) * 100;
  const megabytes = await residentMegabytes(agent.pid);
  await agent.stop();
  return { megabytes, cpuPercent };
};

/** Its start and its first checks are no idleness. */
const SETTLE_MS = 35_000;
/** Two checks, at the default interval. */
const WATCH_MS = 60_000;
const sleep = (ms: number): Promise<void> => new Promise((resume) => setTimeout(resume, ms));

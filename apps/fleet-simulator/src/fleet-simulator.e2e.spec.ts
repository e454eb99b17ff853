import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Owner } from '../../../test/support/owner.js';
import { QUICK, startPlane, type ProcessPlane } from '../../../test/support/plane.js';
import { Fleet, type FleetReport } from './index.js';

const ROOT = join(import.meta.dirname, '../../..');
const PROGRAM = join(ROOT, 'dist/apps/fleet-simulator/fleet-simulator.mjs');

describe('a simulated fleet in front of the machine API', () => {
  let plane: ProcessPlane;
  let owner: Owner;
  let directory: string;

  beforeAll(async () => {
    // Connections are not cut behind a busy machine's back: nothing is lost here, so that what is on record can be told exactly.
    plane = await startPlane(QUICK, { quietMs: 15_000 });
    owner = await Owner.connect(plane.database.ownerUrl);
    directory = await mkdtemp(join(tmpdir(), 'rollcall-fleet-'));
  }, 120_000);
  afterAll(async () => {
    await owner[Symbol.asyncDispose]();
    await plane.close();
    await rm(directory, { recursive: true });
  }, 60_000);

  const recorded = async () =>
    (await owner.rows<{ id: string }>('select check_id::text as id from check_in')).map(({ id }) => id).toSorted();
  const verify = async (answers: string) => {
    const script = join(ROOT, 'dist/apps/verifier/rollcall-verify.mjs');
    const { stdout, output } = await plane.processes.run('verify', process.execPath, [
      script,
      '--json',
      '--gap-seconds',
      plane.environment['ROLLCALL_GAP_SECONDS'] ?? '',
      '--answers',
      answers,
      plane.database.url,
    ]);
    if (!stdout) throw new Error(output);
    return JSON.parse(stdout) as { readonly holds: boolean; readonly invariants: readonly object[] };
  };

  it('is admitted, lives, and leaves exactly the checks on record that it was answered (I1, I2)', async () => {
    const answered: string[] = [];
    await using fleet = new Fleet({ eventEvery: 4 });
    await fleet.enrol(40, () => plane.enrolmentToken(), AbortSignal.timeout(30_000));
    const report = await fleet.run({
      rate: 100,
      signal: AbortSignal.timeout(5_000),
      onAccepted: ({ checkId }) => answered.push(checkId),
    });

    expect(report.accepted).toBeGreaterThan(100);
    expect(report.outcomes).toEqual({ accepted: answered.length });
    expect(Math.min(...Object.values(report.life))).toBeGreaterThan(0);
    expect(report.longestPause).toBeLessThan(4_000);
    expect(await recorded()).toEqual(answered.toSorted());
    // Copies are told by the chain of answers: honest machines are never taken for one, whatever was lost.
    expect(await owner.value('select count(distinct machine)::integer from check_in')).toBe(40);
    const boots = await owner.value<number>('select count(distinct (machine, boot_counter))::integer from check_in');
    expect(boots).toBeGreaterThan(40);

    const history = join(directory, 'answers.jsonl');
    await writeFile(history, answered.map((checkId) => JSON.stringify({ checkId })).join('\n'));
    expect(await verify(history)).toMatchObject({
      holds: true,
      invariants: expect.arrayContaining([
        expect.objectContaining({ id: 'I1', examined: answered.length, broken: 0 }),
        expect.objectContaining({ id: 'I2', broken: 0 }),
      ]),
    });
  }, 120_000);

  const program = (args: readonly string[], input = '') =>
    plane.processes.start('fleet-simulator', process.execPath, [PROGRAM, ...args], { input });

  it('is a program as well, which ends in order on Ctrl-C and hands over what was answered', async () => {
    const before = new Set(await recorded());
    const tokens = await Promise.all([1, 2, 3].map(() => plane.enrolmentToken()));
    const history = join(directory, 'program.jsonl');
    const running = await program(['--rate', '100', '--seed', '7', '--answers', history, '--json'], tokens.join('\n'));
    await running.waitFor(/3 machines enrol, seed 7[^]*checking in/);
    await expect(running.stop('SIGINT')).resolves.toEqual({ code: 0, signal: null });
    const report = JSON.parse(running.stdout()) as FleetReport;
    const answered = (await readFile(history, 'utf8')).split('\n').filter(Boolean);
    expect(report).toMatchObject({ machines: 3, seed: 7, accepted: answered.length });
    expect(answered.map((line) => (JSON.parse(line) as { checkId: string }).checkId).toSorted()).toEqual(
      (await recorded()).filter((id) => !before.has(id)),
    );
  }, 60_000);

  it('tells people what it did, and what is wrong with a command line or a token', async () => {
    const ended = async (args: readonly string[], input = '') => {
      const running = await program(args, input);
      return { ...(await running.exited), output: running.output() };
    };
    expect(await ended(['--seconds', '0.5', '--rate', '20'], await plane.enrolmentToken())).toMatchObject({
      code: 0,
      output: expect.stringMatching(
        /accepted +\d+ in 0\.5 s[^]*latency +p50[^]*longest pause[^]*answers +accepted \d+/,
      ),
    });
    expect(await ended(['--help'])).toMatchObject({ code: 0, output: expect.stringContaining('--tokens <file>') });
    expect(await ended(['--rate', '0'])).toMatchObject({ code: 2, output: expect.stringContaining('above 0') });
    expect(await ended([])).toMatchObject({ code: 1, output: expect.stringContaining('no token') });
    expect(await ended([], 'rollcall1.x.00000000')).toMatchObject({
      code: 1,
      output: expect.stringContaining('damaged'),
    });
  }, 60_000);
});

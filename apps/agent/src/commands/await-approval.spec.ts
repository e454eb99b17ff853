import { expect, it } from '@jest/globals';
import { ManualClock } from '@rollcall/lifetimes/testing';
import { PROBLEM_MEDIA_TYPE, PROBLEMS, type ProblemCode } from '@rollcall/wire';
import { EXIT } from '../exit-code.js';
import type { Enrolled } from '../plane/enrolment-verdict.js';
import type { PlaneAnswer } from '../plane/plane.js';
import { awaitApproval } from './await-approval.js';

const MACHINE = { id: '01934f6e-0000-7000-8000-000000000001', name: 'forge', owner: 'person-1' };
const ADMITTED: Enrolled = { kind: 'enrolled', machine: MACHINE, interval: 30 };

const answered = (status: number, mediaType: string, body: object): PlaneAnswer => ({
  status,
  mediaType,
  header: () => [],
  body: JSON.stringify(body),
  pin: null,
});
const refused = (code: ProblemCode) => answered(PROBLEMS[code].status, PROBLEM_MEDIA_TYPE, { code });
const admitted = answered(201, 'application/json', { machine: MACHINE, interval: 30 });
const portal = answered(200, 'text/html', {});

/** Waits for a person while the plane gives these answers, and says when each question was asked. */
const wait = async (answers: readonly (PlaneAnswer | null)[], known: Enrolled | null = null) => {
  const clock = new ManualClock();
  const interruption = new AbortController();
  const asked: number[] = [];
  const outcome = awaitApproval({
    code: { expiresIn: 600, interval: 5 },
    clock,
    signal: interruption.signal,
    redeem: () => {
      asked.push(clock.monotonic() / 1_000);
      const answer = answers[asked.length - 1];
      if (answer === undefined) interruption.abort();
      return Promise.resolve(answer ?? null);
    },
    check: () => Promise.resolve(known),
    waiting: () => undefined,
  }).then(
    (result) => ({ result }),
    (error: unknown) => ({ error }),
  );
  for (;;) {
    const over = await Promise.race([outcome, clock.whenAsleep().then(() => null)]);
    if (over) return { ...over, asked };
    await clock.advance(1_000);
  }
};

it('asks at the interval, more slowly for good after each "slow-down", until it is let in (O12)', async () => {
  const answers = [refused('code-pending'), refused('slow-down'), refused('code-pending'), admitted];
  expect(await wait(answers)).toEqual({ result: ADMITTED, asked: [5, 10, 20, 30] });
});

it('goes on after a lost answer, a portal and a plane that cannot record', async () => {
  expect(await wait([null, portal, refused('unavailable'), admitted])).toMatchObject({ result: ADMITTED });
});

it('finds out by its credential that it was let in, where the answer to the pickup was lost (O12)', async () => {
  expect(await wait([null, refused('code-refused')], ADMITTED)).toMatchObject({ result: ADMITTED, asked: [5, 10] });
});

it('ends where the code is over and nobody knows its credential (C08)', async () => {
  expect(await wait([refused('code-refused')])).toMatchObject({ error: { exitCode: EXIT.refused }, asked: [5] });
});

it('says why it was not let in where the plane says it: another machine has its identifier (O18)', async () => {
  const { error } = (await wait([refused('identifier-in-use')])) as { error: Error };
  expect(error).toMatchObject({ exitCode: EXIT.refused, message: expect.stringContaining('admitted already') });
});

it('ends when the person at this end interrupts it, and leaves no timer', async () => {
  expect(await wait([refused('code-pending')])).toMatchObject({
    error: { exitCode: EXIT.unreachable },
    asked: [5, 10],
  });
});

it('gives up a minute after the code is over, where nothing answers', async () => {
  const { error, asked } = (await wait(Array<null>(1_000).fill(null))) as { error: unknown; asked: number[] };
  expect([error, asked.at(-1)]).toEqual([expect.objectContaining({ exitCode: EXIT.unreachable }), 665]);
});

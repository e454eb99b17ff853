import { expect, it } from '@jest/globals';
import { LIMITS } from '@rollcall/check-schedule';
import { Lifetime } from '@rollcall/lifetimes';
import { ManualClock } from '@rollcall/lifetimes/testing';
import { CheckLoop } from '../check/check-loop.js';
import type { Key } from '../check/enrolment.js';
import { accepted, InMemoryPlane, lost, refused } from '../testing/in-memory-plane.js';
import { MemoryNotebook } from '../testing/memory-notebook.js';
import { SettableReadiness } from '../testing/settable-readiness.js';
import { LogTailUploads, UPLOAD_DEADLINE } from './log-tail-uploads.js';

const [FIRST, SECOND] = ['2026-01-01T12:00:00.000Z', '2026-01-01T12:00:00.001Z'] as const;
const KEY: Key = { secret: 'rcm_1', generation: 1, address: 'https://plane.example:443' };
const minutes = (n: number) => n * 60_000;

/** A loop of checks every 30 s, and the uploads beside it; the plane asks for what `asks` says. */
const running = async () => {
  const clock = new ManualClock();
  const plane = new InMemoryPlane(() => clock.monotonic());
  const asks: { logTail: string | null; machine: string } = { logTail: null, machine: 'machine-1' };
  plane.behave = () =>
    accepted({
      machine: { id: asks.machine, name: null, owner: 'person-1', generation: 1 },
      requests: { logTail: asks.logTail, rotate: null },
    });
  const lines: string[] = [];
  const write = (line: string) => void lines.push(line);
  const log = { info: write, warn: write, error: write };
  const lifetime = new Lifetime();
  const uploads = new LogTailUploads({
    clock,
    log,
    tail: () => Buffer.from(`${lines.length} lines`),
    beside: (work) => lifetime.run(work),
  });
  let ids = 0;
  const loop = new CheckLoop({
    clock,
    notebook: new MemoryNotebook(),
    readiness: new SettableReadiness(),
    portrait: { name: 'host', report: {} },
    boot: { counter: 1, id: '00000001' },
    limits: LIMITS,
    log: { info: () => undefined, warn: () => undefined, error: write },
    chance: () => 0.5,
    newCheckId: () => `check-${(ids += 1)}`,
    newBootId: () => '00000002',
    onAsked: (asked) => uploads.heard(asked),
  });
  const enrol = () => loop.use({ plane, keys: [KEY], chain: null, interval: 30_000, machine: null });
  lifetime.run((signal) => loop.run(signal));
  enrol();
  await clock.advance(0);
  return {
    clock,
    plane,
    asks,
    lines,
    loop,
    enrol,
    lifetime,
    stamps: () => plane.uploads.map(({ stamp }) => stamp),
    async [Symbol.asyncDispose]() {
      await lifetime.end();
      // Nothing that ended has left a timer.
      expect(clock.sleeping).toBe(0);
    },
  };
};

it('uploads the tail of the log when an answer asks for it, with the key of that check, once per stamp (O26)', async () => {
  await using test = await running();
  await test.clock.advance(minutes(1));
  expect(test.stamps()).toEqual([]);
  test.asks.logTail = FIRST;
  await test.clock.advance(30_000);
  expect(test.plane.uploads).toEqual([{ stamp: FIRST, text: '0 lines', credential: 'rcm_1' }]);
  // Also where answers that were on their way still ask.
  await test.clock.advance(minutes(5));
  expect(test.stamps()).toEqual([FIRST]);
  test.asks.logTail = SECOND;
  await test.clock.advance(30_000);
  expect(test.stamps()).toEqual([FIRST, SECOND]);
});

it('holds no check up, however slow it is, is given up in time, and is tried again on a later check (O13, O26, I16)', async () => {
  await using test = await running();
  test.plane.behaveOnUpload = () => null;
  test.asks.logTail = FIRST;
  await test.clock.advance(minutes(10));
  expect(new Set(test.plane.gaps)).toEqual(new Set([30_000]));
  expect(test.plane.received).toHaveLength(21);
  expect(test.stamps().length).toBeGreaterThan(5);
  // Never two at a time: one lasts as long as an interval, so it is given up before the next begins.
  expect(UPLOAD_DEADLINE).toBe(30_000);
  expect(test.stamps().length).toBeLessThanOrEqual(20);
  expect(test.lines).toEqual(['The tail of this log was not taken (no-answer); trying on']);
});

it('runs one at a time: a newer request waits for the end of the one that is under way (O26)', async () => {
  await using test = await running();
  test.plane.behaveOnUpload = () => null;
  test.asks.logTail = FIRST;
  await test.clock.advance(30_000);
  test.asks.logTail = SECOND;
  test.loop.use({ plane: test.plane, keys: [KEY], chain: null, interval: 10_000, machine: null });
  await test.clock.advance(10_000);
  expect(test.stamps()).toEqual([FIRST]);
  test.plane.behaveOnUpload = (logTail) => accepted({ logTail });
  await test.clock.advance(minutes(1));
  expect(test.stamps()).toEqual([FIRST, SECOND]);
});

it('tries again after a failure, with the next check and not before, and says each reason once (O26)', async () => {
  await using test = await running();
  const failures = [() => lost(), () => lost(), () => refused('unavailable'), () => refused('slow-down')];
  test.plane.behaveOnUpload = (logTail) => failures.shift()?.() ?? accepted({ logTail });
  test.asks.logTail = FIRST;
  await test.clock.advance(minutes(10));
  expect(test.stamps()).toEqual(Array.from({ length: 5 }, () => FIRST));
  expect(test.lines).toEqual([
    'The tail of this log was not taken (unreachable); trying on',
    'The tail of this log was not taken (unavailable); trying on',
    'The tail of this log was not taken (slow-down); trying on',
    'Uploaded the tail of this log, as the plane asked',
  ]);
});

it('is done when the plane waits for it no more (O26)', async () => {
  await using test = await running();
  test.plane.behaveOnUpload = () => refused('request-not-pending');
  test.asks.logTail = FIRST;
  await test.clock.advance(minutes(5));
  expect(test.stamps()).toEqual([FIRST]);
  expect(test.lines).toEqual([]);
});

it('answers the same stamp again as another machine', async () => {
  await using test = await running();
  test.asks.logTail = FIRST;
  await test.clock.advance(30_000);
  test.asks.machine = 'machine-2';
  test.enrol();
  await test.clock.advance(30_000);
  expect(test.stamps()).toEqual([FIRST, FIRST]);
});

it('ends at once with the checks, in silence', async () => {
  await using test = await running();
  test.plane.behaveOnUpload = () => null;
  test.asks.logTail = FIRST;
  await test.clock.advance(30_000);
  await test.lifetime.end();
  expect([test.stamps(), test.lines]).toEqual([[FIRST], []]);
});

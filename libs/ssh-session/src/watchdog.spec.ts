import { beforeEach, describe, expect, it } from '@jest/globals';
import { TIMING } from '@rollcall/transport-watchdog';
import { FakeLink, ManualSessionClock } from './testing/index.js';
import { Watchdog, type Verdict } from './watchdog.js';

let clock: ManualSessionClock;
let link: FakeLink;
let watchdog: Watchdog;
let verdicts: Verdict[];

beforeEach(() => {
  clock = new ManualSessionClock();
  link = new FakeLink();
  link.probes = 'waits';
  verdicts = [];
  watchdog = new Watchdog(link, TIMING, clock, (verdict) => verdicts.push(verdict));
});

const probes = () => link.count('probe');
const answer = async () => {
  link.answerProbe();
  await clock.rest();
};
const SILENCE = { cause: 'silence', silence: 45_001 };

describe('probes', () => {
  it('leave one interval after the start and one after each answer, never two at a time (T-1.2)', async () => {
    await clock.advance(14_999);
    expect(probes()).toBe(0);
    await clock.advance(1);
    expect(probes()).toBe(1);
    await clock.advance(25_000);
    expect(probes()).toBe(1);
    await answer();
    await clock.advance(14_999);
    expect(probes()).toBe(1);
    await clock.advance(1);
    expect([probes(), link.mostProbesAtOnce, clock.now()]).toEqual([2, 1, 55_000]);
  });

  it('are sent at their time and not before, even if the timer comes early (T-1.2)', async () => {
    const early = new FakeLink();
    const calls: (() => void)[] = [];
    clock.after = (_, call) => {
      calls.push(call);
      return () => undefined;
    };
    const { watch } = new Watchdog(early, TIMING, clock, () => undefined);
    calls[0]?.();
    expect([early.count('probe'), watch.probeSentAt, calls.length]).toEqual([0, null, 3]);
  });

  it('are never sent again after a loss (T-2.12)', async () => {
    await clock.advance(45_001);
    link.answerProbe();
    await clock.advance(3_600_000);
    expect([probes(), clock.pending]).toEqual([1, 0]);
  });

  it('are never sent again after a stop, and leave nothing behind but the one that waits in the link (T-2.4)', async () => {
    await clock.advance(15_000);
    watchdog.stop();
    expect([clock.pending, link.listeners, link.waiting]).toEqual([0, 0, 1]);
    link.end();
    await watchdog.probe;
    await clock.advance(3_600_000);
    expect([probes(), verdicts]).toEqual([1, []]);
  });
});

describe('the verdict', () => {
  it('is a loss at a silence of 45,001 ms and not of 45,000, and is given once (T-1.3, C29)', async () => {
    await clock.advance(45_000);
    expect(verdicts).toEqual([]);
    await clock.advance(1);
    expect(verdicts).toEqual([SILENCE]);
    await clock.advance(3_600_000);
    expect(verdicts).toHaveLength(1);
  });

  it('looks again at the right time after an answer (T-1.3)', async () => {
    await clock.advance(44_900);
    await answer();
    await clock.advance(45_000);
    expect(verdicts).toEqual([]);
    await clock.advance(1);
    expect(verdicts).toEqual([SILENCE]);
  });

  it('counts an answer that came after a silence of exactly 45,000 ms as life (T-1.3, C29)', async () => {
    await clock.advance(45_000);
    await answer();
    await clock.advance(1);
    expect(verdicts).toEqual([]);
  });

  it('is put off when the look comes early, and given in time (T-1.3)', async () => {
    const looks: (() => void)[] = [];
    const lost: Verdict[] = [];
    clock.after = (ms, call) => {
      if (ms > TIMING.interval) looks.push(call);
      return () => undefined;
    };
    const early = new Watchdog(new FakeLink(), TIMING, clock, (verdict) => lost.push(verdict));
    await clock.advance(45_000);
    looks[0]?.();
    await clock.rest();
    expect([early.watch.startedAt, looks.length, lost]).toEqual([0, 1, []]);
  });

  it('takes in an answer that had already arrived when the process stood still (T-1.3, C29)', async () => {
    await clock.advance(15_000);
    clock.holdsTurns = true;
    await clock.standStill(50_000);
    expect(verdicts).toEqual([]);
    await answer();
    await clock.turn();
    expect([verdicts, watchdog.watch.lastReplyAt]).toEqual([[], 65_000]);
  });

  it.each([1, 4, 20])('waits while bytes come in front of the answer, here for %i turns (T-1.3)', async (turns) => {
    await clock.advance(15_000);
    clock.holdsTurns = true;
    await clock.standStill(50_000);
    for (let turn = 0; turn < turns; turn += 1) {
      link.bytesRead += 400_000;
      await clock.turn();
    }
    await answer();
    await clock.turn();
    expect(verdicts).toEqual([]);
  });

  it('does not wait for ever while bytes come and no answer (T-1.3)', async () => {
    clock.holdsTurns = true;
    await clock.standStill(50_000);
    for (let turn = 0; turn < 64; turn += 1) {
      expect(verdicts).toEqual([]);
      link.bytesRead += 400_000;
      await clock.turn();
    }
    expect(verdicts).toEqual([{ cause: 'silence', silence: 50_000 }]);
  });

  it('gives up a turn after the bytes have ended', async () => {
    clock.holdsTurns = true;
    await clock.standStill(50_000);
    await clock.turn();
    expect(verdicts).toHaveLength(1);
  });

  it('is given in the turn in which the link ends (T-1.4)', async () => {
    await clock.advance(3_000);
    link.end();
    expect(verdicts).toEqual([{ cause: 'link-ended', silence: 3_000 }]);
    await clock.advance(3_600_000);
    expect([verdicts.length, clock.pending]).toEqual([1, 0]);
  });

  it('is given at once when the link had ended before the start (T-1.4)', () => {
    link.end();
    const late: Verdict[] = [];
    watchdog = new Watchdog(link, TIMING, clock, (verdict) => late.push(verdict));
    expect([late, clock.pending]).toEqual([[{ cause: 'link-ended', silence: 0 }], 0]);
  });

  it('is given at once when a probe fails on a link that goes on (T-1.4)', async () => {
    await clock.advance(15_400);
    link.failProbe();
    await clock.rest();
    expect(verdicts).toEqual([{ cause: 'probe-failed', silence: 15_400 }]);
  });

  it('is not given when a probe fails after the stop (T-1.4)', async () => {
    await clock.advance(15_000);
    watchdog.stop();
    link.failProbe();
    await clock.advance(3_600_000);
    expect(verdicts).toEqual([]);
  });

  it('is not given after a stop that came while bytes were taken in (T-2.4)', async () => {
    clock.holdsTurns = true;
    await clock.standStill(50_000);
    watchdog.stop();
    expect(clock.pending).toBe(0);
  });
});

it('knows how long the newest answer took', async () => {
  await clock.advance(15_000);
  await clock.advance(350);
  await answer();
  expect(watchdog.watch.roundTrip).toBe(350);
});

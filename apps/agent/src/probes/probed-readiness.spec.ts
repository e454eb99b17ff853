import { describe, expect, it } from '@jest/globals';
import { Lifetime } from '@rollcall/lifetimes';
import { ManualClock } from '@rollcall/lifetimes/testing';
import { ScriptedProbe } from '../testing/scripted-probe.js';
import { ProbedReadiness } from './probed-readiness.js';

/** Two probes that are looked after. */
const running = async (prepare: (disk: ScriptedProbe, clock: ScriptedProbe) => void = () => undefined) => {
  const time = new ManualClock();
  const disk = new ScriptedProbe('disk-full');
  const clock = new ScriptedProbe('clock-wrong');
  prepare(disk, clock);
  const readiness = new ProbedReadiness({ clock: time, probes: [disk, clock] });
  const rung: unknown[] = [];
  readiness.onChange(() => rung.push(readiness.current()));
  const lifetime = new Lifetime();
  lifetime.run((signal) => readiness.run(signal));
  const codes = () => {
    const findings = readiness.current();
    return findings && [findings.blockers, findings.notProbed.map(({ code }) => code)];
  };
  await time.advance(0);
  return {
    time,
    disk,
    clock,
    readiness,
    rung,
    lifetime,
    codes,
    async [Symbol.asyncDispose]() {
      await lifetime.end();
      // What ended has left no timer.
      expect(time.sleeping).toBe(0);
    },
  };
};

describe('readiness out of probes', () => {
  it('is what they found, from their first turn on', async () => {
    await using test = await running((disk) => disk.finds('disk-full'));
    expect(test.codes()).toEqual([['disk-full'], []]);
  });

  it('looks at the start and then once a minute', async () => {
    await using test = await running();
    await test.time.advance(59_999);
    expect(test.disk.looks).toBe(1);
    await test.time.advance(1);
    expect(test.disk.looks).toBe(2);
    await test.time.advance(600_000);
    expect([test.disk.looks, test.clock.looks]).toEqual([12, 12]);
  });

  it('is "not probed" as a whole until every probe has had its first turn (O25)', async () => {
    await using test = await running((disk, clock) => {
      disk.finds('disk-full');
      clock.hangs();
    });
    await test.time.advance(4_999);
    expect([test.codes(), test.rung]).toEqual([null, []]);
    await test.time.advance(1);
    expect(test.codes()).toEqual([['disk-full'], ['clock-wrong']]);
  });

  it('gives each probe five seconds of its own; what a late one would have found is "not probed" (O13, O25)', async () => {
    await using test = await running((disk) => disk.finds('disk-full'));
    test.disk.hangs();
    test.clock.finds('clock-wrong');
    await test.time.advance(60_000);
    // The other one is heard at once, and what the late one said before holds until its time is over.
    expect(test.codes()).toEqual([['clock-wrong', 'disk-full'], []]);
    await test.time.advance(4_999);
    expect([test.codes(), test.disk.signal?.aborted]).toEqual([[['clock-wrong', 'disk-full'], []], false]);
    await test.time.advance(1);
    expect([test.codes(), test.disk.signal?.aborted]).toEqual([[['clock-wrong'], ['disk-full']], true]);
    expect(test.readiness.current()?.notProbed[0]?.why).toBe('no answer within 5 s');
  });

  it('begins no second look while one hangs, and looks again when that has come back (O13)', async () => {
    await using test = await running();
    const comeBack = test.disk.hangs();
    await test.time.advance(3_600_000);
    expect([test.disk.looks, test.disk.underWay, test.clock.looks]).toEqual([2, 1, 61]);
    test.disk.lookAgain();
    await test.time.advance(0);
    expect([test.disk.looks, test.codes()]).toEqual([2, [[], ['disk-full']]]);
    comeBack();
    test.disk.finds('disk-full');
    await test.time.advance(60_000);
    expect([test.disk.looks, test.codes()]).toEqual([3, [['disk-full'], []]]);
  });

  it('does not know what a probe that fails would have found, and says why (O25)', async () => {
    await using test = await running((disk) => {
      disk.answer = () => Promise.reject(new Error('EIO: i/o error, statfs'));
    });
    expect(test.readiness.current()).toEqual({
      blockers: [],
      notProbed: [{ code: 'disk-full', why: 'EIO: i/o error, statfs' }],
    });
  });

  it('survives a probe that throws before it has begun', async () => {
    await using test = await running((disk) => {
      disk.answer = () => {
        throw new Error('no such thing');
      };
    });
    test.disk.finds('disk-full');
    await test.time.advance(60_000);
    expect(test.codes()).toEqual([['disk-full'], []]);
  });

  it('rings when the codes have changed, and only then (O16)', async () => {
    await using test = await running();
    expect(test.rung).toHaveLength(1);
    await test.time.advance(300_000);
    expect(test.rung).toHaveLength(1);
    test.disk.finds('disk-full');
    await test.time.advance(300_000);
    expect(test.rung).toHaveLength(2);
    test.disk.answer = () => Promise.reject(new Error('one reason'));
    await test.time.advance(60_000);
    test.disk.answer = () => Promise.reject(new Error('another reason'));
    await test.time.advance(60_000);
    expect(test.rung).toHaveLength(3);
    expect(test.readiness.current()?.notProbed[0]?.why).toBe('another reason');
    test.disk.finds();
    await test.time.advance(60_000);
    expect(test.rung).toHaveLength(4);
  });

  it('looks at once where there is news, also when it comes while the probe is looking', async () => {
    await using test = await running();
    await test.time.advance(10_000);
    test.clock.finds('clock-wrong');
    test.clock.lookAgain();
    await test.time.advance(0);
    expect([test.codes(), test.disk.looks]).toEqual([[['clock-wrong'], []], 1]);

    const answer = Promise.withResolvers<readonly string[]>();
    test.clock.answer = () => answer.promise;
    test.clock.lookAgain();
    await test.time.advance(0);
    test.clock.lookAgain();
    test.clock.finds();
    answer.resolve(['clock-wrong']);
    await test.time.advance(0);
    expect(test.codes()).toEqual([[], []]);
  });

  it('ends at once, also while a look hangs, and is not changed by what comes back afterwards', async () => {
    const test = await running((disk) => disk.finds('disk-full'));
    const comeBack = test.disk.hangs();
    await test.time.advance(60_000);
    expect(test.disk.underWay).toBe(1);
    await test[Symbol.asyncDispose]();
    expect(test.disk.signal?.aborted).toBe(true);
    comeBack();
    await test.time.advance(0);
    expect(test.codes()).toEqual([['disk-full'], []]);
    expect(test.rung).toHaveLength(1);
  });
});

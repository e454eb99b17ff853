import { describe, expect, it } from '@jest/globals';
import { DeadlineExceeded, Lifetime, SystemClock, withDeadline } from './index.js';
import { ManualClock } from './testing/index.js';

describe('a lifetime', () => {
  it('waits for the end of every task before it has ended', async () => {
    const lifetime = new Lifetime();
    const said: string[] = [];
    lifetime.run(async (signal) => {
      await new Promise((resolve) => signal.addEventListener('abort', resolve));
      await Promise.resolve();
      said.push('cleaned up');
    });
    await lifetime.end();
    expect(said).toEqual(['cleaned up']);
  });

  it('ends the others and passes the error on when one task fails', async () => {
    const lifetime = new Lifetime();
    let aborted = false;
    lifetime.run(async (signal) => {
      await new Promise((resolve) => signal.addEventListener('abort', resolve));
      aborted = true;
    });
    lifetime.run(() => Promise.reject(new Error('broken')));
    await new Promise((resolve) => lifetime.signal.addEventListener('abort', resolve));
    await expect(lifetime.end()).rejects.toThrow('broken');
    expect(aborted).toBe(true);
  });
});

describe('a deadline', () => {
  it('fails work that is late even if the work does not listen', async () => {
    const clock = new ManualClock();
    const late = withDeadline(clock, 5_000, () => new Promise<never>(() => undefined));
    const outcome = late.catch((error: unknown) => error);
    await clock.advance(5_000);
    expect(await outcome).toBeInstanceOf(DeadlineExceeded);
  });

  it('leaves no timer behind when the work was in time', async () => {
    const clock = new ManualClock();
    await expect(withDeadline(clock, 5_000, () => Promise.resolve('done'))).resolves.toBe('done');
    expect(clock.sleeping).toBe(0);
  });

  it('is cut short by the outer signal, where one is given', async () => {
    const clock = new ManualClock();
    const outer = new AbortController();
    const work = withDeadline(
      clock,
      5_000,
      (signal) =>
        new Promise<never>((_, reject) => signal.addEventListener('abort', () => reject(new Error('given up')))),
      outer.signal,
    );
    outer.abort();
    await expect(work).rejects.toThrow('given up');
  });
});

describe('the manual clock', () => {
  it('fires timers in their order, also those asked for while it moves', async () => {
    const clock = new ManualClock(0);
    const fired: number[] = [];
    const loop = async () => {
      for (let turn = 0; turn < 3; turn += 1) {
        await clock.sleep(10);
        fired.push(clock.monotonic());
      }
    };
    const running = loop();
    await clock.whenAsleep();
    await clock.advance(25);
    expect(fired).toEqual([10, 20]);
    await clock.advance(5);
    await running;
    expect(fired).toEqual([10, 20, 30]);
  });

  it('moves the wall clock alone while the machine sleeps', () => {
    const clock = new ManualClock(1_000);
    clock.suspend(500);
    expect([clock.wall(), clock.monotonic()]).toEqual([1_500, 0]);
  });
});

describe('the system clock', () => {
  it('wakes a sleeper at once when the signal is aborted, without an error', async () => {
    const over = new AbortController();
    const asleep = new SystemClock().sleep(3_600_000, over.signal);
    over.abort();
    await expect(asleep).resolves.toBeUndefined();
  });
});

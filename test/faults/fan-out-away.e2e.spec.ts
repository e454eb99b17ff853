import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { randomFrom } from '@rollcall/read-models/testing';
import { amount } from '../support/amount.js';
import { FanOut, RATE } from '../support/fan-out.js';
import { expectUnharmed } from './unharmed.js';

/** Longer than all that a client or a reader waits for before it tries again. */
const AWAY_SECONDS = amount({ usual: 20, whole: 60 });
const SEED = Number(process.env['ROLLCALL_SEED'] ?? Date.now() % 2 ** 31);
const KILLS = amount({ usual: 4, whole: 20 });

describe(`under a load of ${RATE} checks per second, a nats-server`, () => {
  let stage: FanOut;
  beforeAll(async () => {
    stage = await FanOut.start();
  }, 120_000);
  afterAll(() => stage.close(), 60_000);

  it(`that is stopped for ${AWAY_SECONDS} s costs the read models seconds, and nothing else (U2, I6, I7, fault row 12)`, async () => {
    const { server } = stage.nats;
    const aftermath = await stage.during(async () => {
      await server.stop();
      await wait(1_000 * AWAY_SECONDS);
      await server.start();
    });
    expectUnharmed(aftermath);
    // Seconds, on a machine that is busy as well: readers that waited for NATS would be behind by all that time.
    expect(aftermath.longestLag).toBeLessThan(12);
  }, 240_000);

  it(`that is killed -9 ${KILLS} times at random moments, seed ${SEED}, loses nothing and repeats nothing (U2, I6, I7, fault row 13)`, async () => {
    const { server } = stage.nats;
    const random = randomFrom(SEED);
    let killedWhilePublishing = 0;
    const aftermath = await stage.during(async () => {
      for (let times = 0; times < KILLS; times += 1) {
        const before = stage.witness.heard;
        // The client comes back within three seconds, so this also meets it before it has.
        await wait(random.below(3_500));
        if (stage.witness.heard > before) killedWhilePublishing += 1;
        await server.kill();
        await server.start();
      }
    });
    expectUnharmed(aftermath);
    expect(killedWhilePublishing).toBeGreaterThan(0);
  }, 240_000);
});

import { randomInt } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { FanOut } from '../support/fan-out.js';
import { expectUnharmed } from './unharmed.js';

describe('under a load of 500 checks per second, a nats-server', () => {
  let stage: FanOut;
  beforeAll(async () => {
    stage = await FanOut.start();
  }, 120_000);
  afterAll(() => stage.close(), 60_000);

  it('that is stopped for a minute costs the read models seconds, and nothing else (U2, I6, I7, fault row 12)', async () => {
    const { server } = stage.nats;
    const aftermath = await stage.during(async () => {
      await server.stop();
      await wait(60_000);
      await server.start();
    });
    expectUnharmed(aftermath);
    expect(aftermath.longestLag).toBeLessThan(6);
  }, 240_000);

  it('that is killed -9 20 times at random moments loses nothing and repeats nothing (U2, I6, I7, fault row 13)', async () => {
    const { server } = stage.nats;
    let killedWhilePublishing = 0;
    const aftermath = await stage.during(async () => {
      for (let times = 0; times < 20; times += 1) {
        const before = stage.witness.heard;
        // The client comes back within three seconds, so this also meets it before it has.
        await wait(randomInt(3_500));
        if (stage.witness.heard > before) killedWhilePublishing += 1;
        await server.kill();
        await server.start();
      }
    });
    expectUnharmed(aftermath);
    expect(killedWhilePublishing).toBeGreaterThan(0);
  }, 240_000);
});

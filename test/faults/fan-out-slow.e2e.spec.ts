import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { FanOut, RATE } from '../support/fan-out.js';
import { Owner } from '../support/owner.js';
import { eventually } from '../support/processes.js';
import { TcpProxy } from '../support/tcp-proxy.js';
import { expectUnharmed } from './unharmed.js';

describe(`under a load of ${RATE} checks per second`, () => {
  let stage: FanOut;
  let proxy: TcpProxy;
  beforeAll(async () => {
    stage = await FanOut.start(async ({ url }) => {
      proxy = await TcpProxy.listen({ host: '127.0.0.1', port: Number(new URL(url).port) });
      return proxy.through(url).replace(/\/$/, '');
    });
  }, 120_000);
  afterAll(async () => {
    await stage.close();
    await proxy[Symbol.asyncDispose]();
  }, 60_000);

  it('one of two projectors that is stopped in the middle of a batch, and goes on when the other has its work, changes nothing (U2, I6, I7, fault row 9)', async () => {
    const [first, second] = stage.projectors;
    if (!first || !second) throw new Error('There are not two projectors');
    const leading = /"read model history","msg":"leading"/;
    const history = async () => (await stage.progress())['history'] ?? 0;
    const aftermath = await stage.during(async () => {
      expect(first.output()).toMatch(leading);
      await using blocker = await Owner.connect(stage.plane.database.ownerUrl);
      await blocker.rows('begin; lock table history_line in exclusive mode');
      await eventually('the first is in the middle of a batch', async () => {
        const waiting = await stage.owner.rows(
          `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock' and query like '%history_line%'`,
        );
        if (waiting.length > 0) first.signal('SIGSTOP');
        return waiting.length > 0;
      });
      await blocker.rows('rollback');
      await second.waitFor(leading, 60_000);
      const before = await history();
      await eventually('the second goes on', async () => (await history()) > before, 60_000);
      first.signal('SIGCONT');
      await first.waitFor(/"read model history"[^\n]*"msg":"not leading any more"/, 60_000);
    });
    expectUnharmed(aftermath);
  }, 180_000);

  it('acknowledgements that come ten seconds late cause repetitions only (U2, I6, I7, fault row 17)', async () => {
    const aftermath = await stage.during(async () => {
      proxy.delayAnswers(10_000);
      await wait(15_000);
      proxy.delayAnswers(0);
    });
    expectUnharmed(aftermath);
    expect(aftermath.longestLag).toBeLessThan(6);
  }, 180_000);
});

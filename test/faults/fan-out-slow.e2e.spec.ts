import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { FanOut, RATE } from '../support/fan-out.js';
import { Owner } from '../support/owner.js';
import { eventually, type Running } from '../support/processes.js';
import { TcpProxy } from '../support/tcp-proxy.js';
import { expectUnharmed } from './unharmed.js';

/** What a projector has said last about who leads the history, after so many characters of its output. */
const lastWordOf = (projector: Running, after = 0): string | undefined =>
  [
    ...projector
      .output()
      .slice(after)
      .matchAll(/"read model history"[^\n]*"msg":"(leading|not leading any more)"/g),
  ].at(-1)?.[1];
const leads = (projector: Running): boolean => lastWordOf(projector) === 'leading';

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
    const history = async () => (await stage.progress())['history'] ?? 0;
    const aftermath = await stage.during(async () => {
      await eventually('one leads', () => Promise.resolve(stage.projectors.some(leads)), 60_000);
      const [first, second] = stage.projectors.toSorted((a, b) => Number(leads(b)) - Number(leads(a))) as [
        Running,
        Running,
      ];
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
      await eventually('the second leads', () => Promise.resolve(leads(second)), 60_000);
      const before = await history();
      await eventually('the second goes on', async () => (await history()) > before, 60_000);
      const said = first.output().length;
      first.signal('SIGCONT');
      await eventually('the first gives up', () => Promise.resolve(lastWordOf(first, said) !== undefined), 60_000);
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
    expect(aftermath.longestLag).toBeLessThan(9);
  }, 180_000);
});

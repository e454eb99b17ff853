import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import type { Answered, HandMadeMachine } from '../support/hand-made-machine.js';
import { Owner } from '../support/owner.js';
import { eventually } from '../support/processes.js';
import { Recording, type Instance } from '../support/recording.js';
import { expectRecorded } from './recorded.js';

jest.setTimeout(180_000);

/** Seconds that an append stays under way: time enough to kill somebody, on a busy machine too, and less than a caller's patience (4 s). */
const LINGER = 2.5;

describe('an instance of the machine API', () => {
  let recording: Recording;
  let machine: HandMadeMachine;
  const instance = (index: number) => recording.instances[index] as Instance;

  beforeAll(async () => {
    recording = await Recording.start();
    machine = await recording.machine(instance(1));
    expect(await machine.check()).toBe(200);
  }, 120_000);
  afterAll(async () => {
    await recording.close();
  }, 60_000);

  const killAndStartAgain = async () => {
    const { running } = instance(0);
    running.signal('SIGKILL');
    expect(await running.exited).toEqual({ code: null, signal: 'SIGKILL' });
    await recording.startAgain(0);
  };
  const nothing = { status: 0, body: null };

  it('that is killed -9 before its append has begun has recorded nothing, and the check is recorded when it comes again (row 1, I1, I2)', async () => {
    await using owner = await Owner.connect(recording.plane.database.ownerUrl);
    await using watcher = await Owner.connect(recording.plane.database.ownerUrl);
    // Its append has to wait at the door; the check is in it, because nothing of an instance waits there for longer than its marks do.
    await owner.rows('begin; lock table batch in exclusive mode');
    const check = machine.next();
    const answer = machine.say(check, instance(0).send).catch(() => nothing);
    await eventually('the append waits', async () => {
      const waiting = await watcher.rows(
        `select from pg_locks join pg_stat_activity using (pid)
         where not granted and application_name like '%machine-api writer' and datname = current_database()`,
      );
      return waiting.length > 0;
    });
    instance(0).running.signal('SIGKILL');
    await instance(0).running.exited;
    await watcher.terminate(await watcher.sessions('%machine-api writer'));
    await owner.rows('rollback');
    expect(await answer).toBe(nothing);
    expect(await recording.timesRecorded(check)).toBe(0);
    expect(await machine.say(check, instance(1).send)).toMatchObject({ status: 200 });
    expect(await recording.timesRecorded(check)).toBe(1);
    await recording.startAgain(0);
  });

  it('that is killed -9 after the commit and before the answer has recorded the check, which is answered without another record when it comes again (row 2, I1, I2)', async () => {
    const { check, answer } = await recording.lingering(machine, LINGER, instance(0));
    const lost = answer.catch(() => nothing);
    await killAndStartAgain();
    expect(await lost).toBe(nothing);
    await eventually('it is committed', async () => (await recording.timesRecorded(check)) === 1);
    expect(await machine.say(check, instance(1).send)).toMatchObject({ status: 200 });
    expect(await machine.say(check, instance(0).send)).toMatchObject({ status: 200 });
    expect(await recording.timesRecorded(check)).toBe(1);
  });

  it('that is killed -9 with a full queue under load loses nothing that was answered, and repeats nothing (row 3, I1, I2, I3)', async () => {
    const recorded = await recording.during(async () => {
      for (let time = 0; time < 3; time += 1) {
        // What arrives while this one is inside gathers behind it.
        const { answer } = await recording.lingering(machine, LINGER, instance(0));
        const lost = answer.catch(() => nothing);
        await killAndStartAgain();
        expect(await lost).toBe(nothing);
        await recording.accepts(100);
      }
    });
    expectRecorded(recorded);
    expect(Object.keys(recorded.report.outcomes).some((what) => what.startsWith('lost'))).toBe(true);
  });

  it('that stands still in the middle of an append keeps nobody waiting, and answers when it goes on (row 4, I3, I19)', async () => {
    const { send } = instance(1);
    const other = await recording.machine(instance(1));
    /** What checks in a row at the other instance take, in milliseconds. */
    const waits = async (goOn: () => boolean) => {
      const times: number[] = [];
      while (times.length < 100 || goOn()) {
        const from = performance.now();
        expect(await other.say(other.next(), send)).toMatchObject({ status: 200 });
        times.push(performance.now() - from);
      }
      return times.toSorted((a, b) => a - b);
    };

    const { check, answer } = await recording.lingering(machine, LINGER, instance(0));
    const { running } = instance(0);
    running.signal('SIGSTOP');
    const stopped = performance.now();
    // Beyond everything that somebody else might wait for: its call (4 s), its transaction (10 s).
    const meanwhile = await waits(() => performance.now() - stopped < 12_000);
    running.signal('SIGCONT');
    // Nothing of those, but what a busy machine takes of itself.
    expect(meanwhile[Math.floor(meanwhile.length * 0.95)]).toBeLessThan(500);
    expect(meanwhile.at(-1)).toBeLessThan(3_000);
    // Its own patience is over, so it may not know any more what became of it; whoever asks again is told.
    expect([200, 503]).toContain((await answer).status);
    expect(await machine.say(check, instance(0).send)).toMatchObject({ status: 200 });
    expect(await recording.timesRecorded(check)).toBe(1);
  });

  it('that is told to end under load answers what it has begun and 503 to what is new, ends within ten seconds, and loses nothing (row 5, I1)', async () => {
    const recorded = await recording.during(async () => {
      const late = await recording.machine(instance(0));
      expect(await late.check()).toBe(200); // Its connection stays.
      const { check, answer } = await recording.lingering(machine, LINGER, instance(0));
      const { running } = instance(0);
      running.signal('SIGTERM');
      // One that is understood by no rule: it waits for nothing, and is refused otherwise until the signal is heard.
      let told: Answered = nothing;
      await eventually(
        'what is new is refused',
        async () => (told = await late.say({}, instance(0).send)).status === 503,
      );
      expect(told.retryAfter).toMatch(/^\d+$/);
      expect(await answer).toMatchObject({ status: 200 });
      expect(await recording.timesRecorded(check)).toBe(1);
      expect(await running.exited).toEqual({ code: 0, signal: null });
      await recording.startAgain(0);
    });
    expectRecorded(recorded);
  });
});

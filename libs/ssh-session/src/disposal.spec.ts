import { beforeEach, describe, expect, it } from '@jest/globals';
import { afterMicrotasks, Bench, PACE, SPEC, SUCCESS, type CommandAnswer } from './testing/index.js';

let bench: Bench;
beforeEach(() => {
  bench = new Bench();
});

const code = (expected: string) => expect.objectContaining({ code: expected });
const CLOSED = ['close forward', 'close link'];
const DONE = { cleanUp: 'done', farStop: 'done', canBeResumed: false };
const SKIPPED = { cleanUp: 'skipped', farStop: 'skipped', canBeResumed: true };
const refusal = { ...SUCCESS, code: 1 };

/** What is left of the session's activity on this computer. */
const left = () => [bench.clock.pending, bench.links.map(({ waiting, listeners }) => waiting + listeners)];
const NOTHING = [0, [0]];

const DISPOSALS = [
  ['stop', () => bench.host.stop('one')],
  ['reset', () => bench.host.reset('one').catch((error: { code?: string }) => error.code)],
  ['close', () => bench.host.close()],
] as const;

/** Every state in which a session can be found. */
const STATES: readonly (readonly [string, () => Promise<unknown>])[] = [
  ['fresh', () => bench.launch()],
  ['answering, between two probes', () => bench.launch().then(() => bench.clock.advance(22_000))],
  ['waiting for a probe', () => bench.launchAndFallSilent(15_000).then((link) => (link.answer = () => SUCCESS))],
  ['unresponsive', () => bench.launchAndFallSilent(40_000)],
  [
    'being judged',
    async () => {
      await bench.launchAndFallSilent(44_000);
      bench.clock.holdsTurns = true;
      await bench.clock.standStill(10_000);
    },
  ],
  [
    'being torn down',
    async () => {
      bench.prepare = (link) => (link.forwardClosing = 'hangs');
      await bench.launchAndFallSilent(45_001);
    },
  ],
  ['lost', () => bench.launchAndFallSilent(60_000)],
  ['lost by a reset of the path', () => bench.launch().then((link) => link.end())],
];

describe.each(DISPOSALS)('%s', (way, dispose) => {
  it.each(STATES)('leaves nothing of a session that is %s (T-2.4)', async (_, reach) => {
    await reach();
    const disposing = dispose();
    bench.clock.holdsTurns = false;
    // Only a teardown whose close hangs needs time.
    if (bench.link.forwardClosing === 'hangs') await bench.clock.advance(1_000);
    await disposing;
    expect(left()).toEqual(NOTHING);
    expect(bench.closesAndCommands.filter((what) => what.startsWith('close'))).toEqual(CLOSED);
    expect(bench.host.status('one')).toBeNull();
  });

  it('is no loss of a session that answers (T-2.10)', async () => {
    const session = await bench.host.launch(SPEC);
    await bench.clock.advance(22_000);
    await dispose();
    await bench.clock.advance(3_600_000);
    expect([bench.log.losses, session.lost.aborted]).toEqual([[], false]);
  });

  it('waits neither for the deadline nor for the probe of an unresponsive session, and sends it no command (T-2.11)', async () => {
    await bench.launchAndFallSilent(35_000);
    const before = bench.clock.now();
    await dispose();
    expect([bench.clock.now(), bench.closesAndCommands, bench.log.losses]).toEqual([before, CLOSED, []]);
  });

  it('does not wait for the next probe (T-2.13)', async () => {
    await bench.launch();
    await bench.clock.advance(22_000);
    await dispose();
    expect(bench.clock.now()).toBe(22_000);
  });

  it('closes each handle once together with a teardown, whichever of them begins, and both succeed (T-2.7)', async () => {
    for (let delay = -3; delay < 12; delay += 1) {
      bench = new Bench();
      const link = await bench.launch();
      if (delay < 0) {
        const disposing = dispose();
        await afterMicrotasks(-delay);
        link.end();
        await disposing;
      } else {
        link.end();
        await afterMicrotasks(delay);
        await dispose();
      }
      expect(bench.closesAndCommands.filter((what) => what.startsWith('close'))).toEqual(CLOSED);
      expect(left()).toEqual(NOTHING);
      // A reset goes on watching until it removes the record.
      if (way !== 'reset' || delay >= 0) expect(bench.log.losses).toHaveLength(delay < 0 ? 0 : 1);
      else expect(bench.log.losses.length).toBeLessThanOrEqual(1);
    }
  });

  it('returns after the line of a teardown that was under way (T-2.7)', async () => {
    bench.prepare = (link) => (link.forwardClosing = 'hangs');
    await bench.launchAndFallSilent(45_001);
    const disposing = dispose();
    await bench.clock.rest();
    expect(bench.log.losses).toEqual([]);
    await bench.clock.advance(1_000);
    await disposing;
    expect(bench.log.losses).toMatchObject([{ silence: 45_001 }]);
  });

  it('is over for whoever comes second at once, and closes nothing a second time (T-2.4)', async () => {
    bench.prepare = (link) => (link.forwardClosing = 'hangs');
    await bench.launch();
    const first = dispose();
    await bench.clock.rest();
    const second = await Promise.all([bench.host.stop('one'), bench.host.reset('one'), bench.host.close()]);
    expect(second).toEqual([null, undefined, undefined]);
    expect(bench.closesAndCommands.filter((what) => what.startsWith('close'))).toEqual(['close forward']);
    await bench.clock.advance(1_000);
    await first;
    expect(left()).toEqual(NOTHING);
  });

  it('ends in bounded time where the link cannot be closed and its probe never settles (T-2.4)', async () => {
    bench.prepare = (link) => (link.closing = 'hangs');
    await bench.launchAndFallSilent(40_000);
    const disposing = dispose();
    await bench.clock.advance(1_000);
    await disposing;
    expect(bench.clock.pending).toBe(0);
  });

  it('closes a session that nobody watches (T-2.4, T-2.9)', async () => {
    bench = new Bench({ ...PACE, timing: { interval: 0, deadline: 0 } });
    await bench.launch();
    await dispose();
    expect(left()).toEqual(NOTHING);
  });
});

describe('stop', () => {
  it('cleans up and stops the far side, then closes, and forgets what a resume would need', async () => {
    await bench.launch();
    expect(await bench.host.stop('one')).toEqual(DONE);
    expect(bench.closesAndCommands).toEqual(['exec clean-up', 'exec stop', ...CLOSED]);
    expect(bench.metadata.kept.size).toBe(0);
  });

  it('of a session that was never there, or is no longer, makes no call and succeeds (T-2.4)', async () => {
    expect(await bench.host.stop('nobody')).toBeNull();
    await bench.launch();
    await bench.host.stop('one');
    const calls = [...bench.link.journal];
    expect([await bench.host.stop('one'), bench.link.journal]).toEqual([null, calls]);
  });

  it('removes the record in its first synchronous step (T-2.4)', async () => {
    await bench.launch();
    const stopping = bench.host.stop('one');
    expect([bench.host.status('one'), bench.link.listeners]).toEqual([null, 0]);
    await stopping;
  });

  it.each([
    ['lost', 45_001],
    ['unresponsive', 30_001],
  ])('skips both commands of a session that is %s, and keeps what a resume needs (T-2.8)', async (_, silence) => {
    await bench.launchAndFallSilent(silence);
    expect(await bench.host.stop('one')).toEqual(SKIPPED);
    expect(bench.closesAndCommands).toEqual(CLOSED);
    expect(bench.metadata.kept.has('one')).toBe(true);
  });

  it('issues both commands at a silence of exactly two intervals (T-2.8)', async () => {
    const link = await bench.launchAndFallSilent(30_000);
    link.answer = () => SUCCESS;
    expect(await bench.host.stop('one')).toEqual(DONE);
  });

  it('goes by the reading that it took first, also when the transport falls silent or ends between its commands (T-2.8)', async () => {
    const link = await bench.launch();
    link.answer = (command) => {
      if (command === 'clean-up') queueMicrotask(() => link.end());
      return SUCCESS;
    };
    expect(await bench.host.stop('one')).toEqual({ cleanUp: 'done', farStop: 'failed', canBeResumed: true });
    expect(bench.closesAndCommands).toEqual(['exec clean-up', 'exec stop', ...CLOSED]);
    expect(bench.log.losses).toEqual([]);
  });

  it('gives each command its own time, and closes under one that is late, whose end it awaits (T-2.8)', async () => {
    const link = await bench.launch();
    link.answer = () => 'silence';
    const stopping = bench.host.stop('one');
    await bench.clock.advance(20_000);
    link.answerCommands();
    await bench.clock.advance(29_999);
    expect(bench.closesAndCommands).toEqual(['exec clean-up', 'exec stop']);
    await bench.clock.advance(1);
    expect(await stopping).toEqual({ cleanUp: 'done', farStop: 'failed', canBeResumed: true });
    expect(bench.closesAndCommands).toEqual(['exec clean-up', 'exec stop', ...CLOSED]);
    expect([left(), bench.log.losses]).toEqual([NOTHING, []]);
  });

  it('fails the second command at once when the first ran out of time (T-2.8)', async () => {
    const link = await bench.launch();
    link.answer = () => 'silence';
    const stopping = bench.host.stop('one');
    await bench.clock.advance(30_000);
    expect(await stopping).toEqual({ cleanUp: 'failed', farStop: 'failed', canBeResumed: true });
    expect(bench.closesAndCommands).toEqual(['exec clean-up', ...CLOSED, 'exec stop']);
    expect(left()).toEqual(NOTHING);
  });

  it('marks the transport lost when a command ran out of time (T-2.8)', async () => {
    const session = await bench.host.launch(SPEC);
    bench.link.answer = () => 'silence';
    const stopping = bench.host.stop('one');
    await bench.clock.advance(30_000);
    await stopping;
    expect([session.lost.aborted, session.lost.reason]).toEqual([true, code('transport-lost')]);
  });

  it('does not return before the late command has ended, and not later than the close allows (T-2.8)', async () => {
    bench.prepare = (link) => (link.closing = 'hangs');
    const link = await bench.launch();
    link.answer = () => 'silence';
    let isStopped = false;
    const stopping = bench.host.stop('one').finally(() => (isStopped = true));
    await bench.clock.advance(30_999);
    expect(isStopped).toBe(false);
    await bench.clock.advance(1);
    expect(await stopping).toMatchObject({ cleanUp: 'failed', farStop: 'failed' });
  });

  it('counts a command as failed that ended well after its time (T-2.8)', async () => {
    bench.prepare = (link) => (link.closing = 'hangs');
    const link = await bench.launch();
    link.answer = (command) => (command === 'clean-up' ? 'silence' : SUCCESS);
    const stopping = bench.host.stop('one');
    await bench.clock.advance(30_000);
    link.answerCommands();
    await bench.clock.advance(1_000);
    expect(await stopping).toMatchObject({ cleanUp: 'failed' });
  });

  it('issues both commands where nobody watches, however silent the far side is (T-2.8)', async () => {
    bench = new Bench({ ...PACE, timing: { interval: 15_000, deadline: 30_000 } });
    const link = await bench.launch();
    link.answer = () => 'silence';
    await bench.clock.advance(3_600_000);
    const stopping = bench.host.stop('one');
    await bench.clock.advance(30_000);
    expect(await stopping).toEqual({ cleanUp: 'failed', farStop: 'failed', canBeResumed: true });
    expect(bench.closesAndCommands.filter((what) => what.startsWith('exec'))).toEqual(['exec clean-up', 'exec stop']);
  });

  it.each([
    ['exits with 1', refusal],
    ['is refused', new Error('refused')],
  ])('succeeds when a command %s (T-2.8)', async (_, answer: CommandAnswer) => {
    const link = await bench.launch();
    link.answer = () => answer;
    expect(await bench.host.stop('one')).toEqual({ cleanUp: 'failed', farStop: 'failed', canBeResumed: true });
    expect(bench.metadata.kept.has('one')).toBe(true);
  });

  it('succeeds when a step at the far side cannot even begin (T-2.8)', async () => {
    const link = await bench.launch();
    link.exec = () => {
      throw new Error('Not connected');
    };
    expect(await bench.host.stop('one')).toEqual({ cleanUp: 'failed', farStop: 'failed', canBeResumed: true });
  });

  it('lets a lost session be resumed (T-2.14)', async () => {
    await bench.launchAndFallSilent(45_001);
    await bench.host.stop('one');
    await bench.host.resume('one');
    expect([bench.dials, bench.host.status('one')?.state]).toEqual([2, 'connected']);
  });

  it('leaves alone what a session of the same id remembers that was launched meanwhile', async () => {
    const link = await bench.launch();
    link.answer = (command) => (command === 'stop' ? 'silence' : SUCCESS);
    const stopping = bench.host.stop('one');
    await bench.clock.rest();
    await bench.host.launch(SPEC);
    link.answerCommands();
    expect(await stopping).toMatchObject({ farStop: 'done' });
    expect([bench.metadata.kept.has('one'), bench.host.status('one')?.state]).toEqual([true, 'connected']);
  });

  it('says that a resume is possible when what it needs could not be forgotten', async () => {
    await bench.launch();
    bench.metadata.isBroken = true;
    expect(await bench.host.stop('one')).toEqual({ cleanUp: 'done', farStop: 'done', canBeResumed: true });
  });
});

describe('close', () => {
  it('lets every session go without a command, and keeps what they need (T-2.13)', async () => {
    await bench.host.launch(SPEC);
    await bench.host.launch({ ...SPEC, id: 'two' });
    await bench.clock.advance(22_000);
    await bench.host.close();
    expect(bench.closesAndCommands).toEqual([...CLOSED, ...CLOSED]);
    expect([bench.clock.now(), bench.clock.pending, bench.metadata.kept.size]).toEqual([22_000, 0, 2]);
  });

  it('can be called again', async () => {
    await bench.launch();
    await Promise.all([bench.host.close(), bench.host.close()]);
    await bench.host.close();
    expect(bench.closesAndCommands).toEqual(CLOSED);
  });
});

describe('reset', () => {
  const reset = () =>
    bench.host.reset('one').then(
      () => 'done',
      (error: { code?: string }) => error.code,
    );

  it('checks the plane, stops the far side, lets the session go and keeps what a resume needs', async () => {
    await bench.launch();
    expect(await reset()).toBe('done');
    expect(bench.closesAndCommands).toEqual(['exec check-plane', 'exec reset', ...CLOSED]);
    expect([bench.host.status('one'), bench.metadata.writes, bench.metadata.kept.size]).toEqual([null, 1, 1]);
  });

  it.each([
    ['lost', 45_001],
    ['unresponsive', 30_001],
  ])('of a session that is %s sends nothing, lets it go and reports the loss (T-2.15)', async (_, silence) => {
    await bench.launchAndFallSilent(silence);
    expect(await reset()).toBe('transport-lost');
    expect(bench.closesAndCommands).toEqual(CLOSED);
    expect([bench.host.status('one'), bench.metadata.writes, bench.metadata.kept.size]).toEqual([null, 1, 1]);
  });

  it('changes nothing when the far side does not reach the plane (T-2.15)', async () => {
    const link = await bench.launch();
    link.answer = () => refusal;
    expect(await reset()).toBe('plane-unreachable');
    expect(bench.closesAndCommands).toEqual(['exec check-plane']);
    expect(bench.host.status('one')?.state).toBe('connected');
    // Nobody but the watchdog waits for its end.
    expect(link.listeners).toBe(1);
    await bench.clock.advance(15_000);
    expect(link.count('probe')).toBe(1);
  });

  it('says when the far side could not be stopped on a transport that held (T-2.15)', async () => {
    const link = await bench.launch();
    link.answer = (command) => (command === 'reset' ? refusal : SUCCESS);
    expect(await reset()).toBe('far-stop-failed');
    expect([bench.host.status('one'), bench.metadata.kept.size]).toEqual([null, 1]);
  });

  describe.each(['check-plane', 'reset'])('during %s', (during) => {
    const waitDuring = async () => {
      const link = await bench.launch();
      link.answer = (command) => (command === during ? 'silence' : SUCCESS);
      const resetting = reset();
      await bench.clock.rest();
      return { link, resetting };
    };
    const expectNothingLeft = () => {
      expect(left()).toEqual(NOTHING);
      expect(bench.closesAndCommands.filter((what) => what.startsWith('close'))).toEqual(CLOSED);
      expect([bench.host.status('one'), bench.metadata.writes, bench.metadata.kept.size]).toEqual([null, 1, 1]);
    };

    it('reports the loss when the path is reset (T-2.15)', async () => {
      const { link, resetting } = await waitDuring();
      link.end();
      expect(await resetting).toBe('transport-lost');
      expectNothingLeft();
    });

    it('reports the loss when the command runs out of time, without a warning (T-2.15, T-2.8)', async () => {
      const { resetting } = await waitDuring();
      await bench.clock.advance(30_000);
      expect(await resetting).toBe('transport-lost');
      expectNothingLeft();
      expect(bench.log.losses).toEqual([]);
    });

    it('reports a refusal as what it is when the transport goes on (T-2.15)', async () => {
      const { link, resetting } = await waitDuring();
      link.refuseCommands();
      expect(await resetting).toBe(during === 'reset' ? 'far-stop-failed' : 'plane-unreachable');
    });

    it('succeeds, or reports what came of it, when it is stopped meanwhile, and no loss is declared (T-2.4, T-2.10)', async () => {
      const { resetting } = await waitDuring();
      const session = bench.host.status('one');
      await Promise.all([bench.host.close(), bench.clock.rest()]);
      if (session) {
        expect(await resetting).toBe('done');
      } else {
        await bench.clock.advance(30_000);
        expect(await resetting).toBe('transport-lost');
      }
      expectNothingLeft();
      expect(bench.log.losses).toEqual([]);
    });
  });

  it('is one success for two callers at once (T-2.4)', async () => {
    await bench.launch();
    expect(await Promise.all([reset(), reset()])).toEqual(['done', 'done']);
    expect(bench.closesAndCommands.filter((what) => what !== 'exec check-plane')).toEqual(['exec reset', ...CLOSED]);
  });

  it('reports the loss when the watchdog tears down during the check, with its warning (T-2.15)', async () => {
    bench = new Bench({ ...PACE, commandLimit: 60_000 });
    const link = await bench.launch();
    link.probes = 'waits';
    link.answer = () => 'silence';
    const resetting = reset();
    await bench.clock.advance(45_001);
    expect(await resetting).toBe('transport-lost');
    expect(bench.log.losses).toMatchObject([{ cause: 'silence', silence: 45_001 }]);
    expect(left()).toEqual(NOTHING);
  });
});

describe('reset of an id that no session has', () => {
  const reset = () =>
    bench.host.reset('one').then(
      () => 'done',
      (error: { code?: string }) => error.code,
    );
  beforeEach(() => {
    bench.metadata.kept.set('one', {
      target: { host: 'far.example' },
      near: { kind: 'tcp' },
      farSocketPath: '/far.sock',
    });
  });

  it('dials for that alone, without a forward and without a watchdog (T-2.2)', async () => {
    bench.prepare = (link) => (link.answer = () => 'silence');
    const resetting = reset();
    await bench.clock.advance(29_000);
    bench.link.answerCommands();
    await bench.clock.advance(29_000);
    bench.link.answerCommands();
    expect(await resetting).toBe('done');
    expect(bench.link.journal).toEqual(['exec check-plane', 'exec reset', 'close link']);
    expect([left(), bench.metadata.kept.size, bench.host.status('one')]).toEqual([NOTHING, 1, null]);
  });

  it.each([
    ['check-plane', 'plane-unreachable'],
    ['reset', 'far-stop-failed'],
  ])('tells a refusal of %s from a lost transport (T-2.15)', async (failing, expected) => {
    bench.prepare = (link) => (link.answer = (command) => (command === failing ? refusal : SUCCESS));
    expect(await reset()).toBe(expected);
    bench.prepare = (link) => (link.answer = (command) => (command === failing ? 'silence' : SUCCESS));
    for (const lose of [() => bench.link.end(), () => bench.clock.advance(30_000)]) {
      const resetting = reset();
      await bench.clock.rest();
      await Promise.resolve(lose());
      expect(await resetting).toBe('transport-lost');
    }
    expect([bench.clock.pending, bench.log.losses]).toEqual([0, []]);
  });

  it('needs something that was kept', async () => {
    bench.metadata.kept.clear();
    expect(await reset()).toBe('unknown-session');
    expect(bench.dials).toBe(0);
  });

  it('is called off by a close of the host, during the dial and during its commands', async () => {
    bench.dialsWaitFor = new Promise(() => undefined);
    const first = reset();
    await bench.clock.rest();
    await bench.host.close();
    expect(await first).toBe('host-closed');
    const { kept } = bench.metadata;
    bench = new Bench();
    for (const [id, metadata] of kept) bench.metadata.kept.set(id, metadata);
    bench.prepare = (link) => (link.answer = () => 'silence');
    const second = reset();
    await bench.clock.rest();
    await bench.host.close();
    expect(await second).toBe('host-closed');
    expect(left()).toEqual(NOTHING);
  });
});

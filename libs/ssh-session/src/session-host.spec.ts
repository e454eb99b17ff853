import { beforeEach, describe, expect, it } from '@jest/globals';
import type { OpenSession } from './index.js';
import { afterMicrotasks, Bench, PACE, SPEC, SUCCESS } from './testing/index.js';

let bench: Bench;
beforeEach(() => {
  bench = new Bench();
});

const { near, farSocketPath } = SPEC;
const code = (expected: string) => expect.objectContaining({ code: expected });
const kept = () =>
  bench.metadata.kept.set('one', { target: { host: 'far.example' }, near: near ?? { kind: 'tcp' }, farSocketPath });

/** Both ways to a session. */
const WAYS = [
  ['launch', () => bench.host.launch(SPEC)],
  ['resume', () => (kept(), bench.host.resume('one'))],
] as const;

/** All ways in which a session is let go. */
const DISPOSALS = [
  ['stop', async () => void (await bench.host.stop('one'))],
  ['reset', () => bench.host.reset('one')],
  ['close', () => bench.host.close()],
] as const;

/** How a call may end that meets a disposal. */
const ended = (error: unknown): undefined => {
  expect(['session-ended', 'host-closed', 'unknown-session']).toContain((error as { code?: string }).code);
};

describe.each(WAYS)('%s', (way, open) => {
  it('records a session and starts one watchdog (T-1.1)', async () => {
    const session = await open();
    expect(session).toMatchObject({ id: 'one', address: near });
    expect(bench.host.status('one')).toMatchObject({ state: 'connected', silence: 0, error: null });
    await bench.clock.advance(15_000);
    expect([bench.link.count('probe'), bench.link.listeners]).toEqual([1, 1]);
  });

  it.each(DISPOSALS)(
    'leaves both a record and a watchdog or neither, whenever a %s comes, and that is no loss (T-1.1, T-2.10)',
    async (_, dispose) => {
      for (let delay = 0; delay < 40; delay += 1) {
        bench = new Bench();
        // A reset is watched until its check is over.
        bench.prepare = (link) => (link.answer = (command) => (command === 'check-plane' ? SUCCESS : 'silence'));
        const opening = open().catch(ended);
        await afterMicrotasks(delay);
        const disposing = dispose().catch(ended);
        // Each other command takes longer than an interval: a watchdog that starts after all would probe meanwhile.
        for (let commands = 0; commands < 2; commands += 1) {
          await bench.clock.advance(16_000);
          for (const link of bench.links) link.answerCommands();
        }
        await disposing;
        await expectBothOrNeither(await opening);
      }
    },
  );

  it.each(DISPOSALS)(
    'leaves both a record and a watchdog or neither, where a %s comes from within a call (T-1.1, T-2.10)',
    async (_, dispose) => {
      const calls = new Set<string>();
      const note = (what: string) => calls.add(what);
      bench.dialled = () => note('dial');
      bench.metadata.called = note;
      bench.prepare = (link) => (link.called = note);
      await open();
      for (const call of calls) {
        bench = new Bench();
        const disposals: Promise<unknown>[] = [];
        let isDisposed = false;
        const disposeAt = (what: string) => {
          if (what !== call || isDisposed) return;
          // A reset makes such calls itself.
          isDisposed = true;
          disposals.push(dispose().catch(ended));
        };
        bench.dialled = () => disposeAt('dial');
        bench.metadata.called = disposeAt;
        bench.prepare = (link) => (link.called = disposeAt);
        const opening = open().catch(ended);
        await Promise.all([opening, ...disposals]);
        await Promise.all(disposals);
        expect(disposals.length).toBeGreaterThan(0);
        await expectBothOrNeither(await opening);
      }
      expect([...calls]).toEqual(expect.arrayContaining(['dial', 'forward', 'onEnd']));
    },
  );

  it('closes what it got and records nothing when the link ended before it could be recorded (T-1.1)', async () => {
    bench.prepare = (link) => (link.called = (what) => what === 'forward' && queueMicrotask(() => link.end()));
    await expect(open()).rejects.toEqual(code('transport-lost'));
    expect(bench.host.status('one')).toBeNull();
    expect([bench.closesAndCommands, bench.clock.pending]).toEqual([['close forward', 'close link'], 0]);
  });

  it('closes the link, and nothing else, when there is no forward to be had', async () => {
    bench.prepare = (link) => (link.refusesForward = true);
    await expect(open()).rejects.toThrow('The near end is taken');
    expect([bench.closesAndCommands, bench.clock.pending, bench.host.status('one')]).toEqual([['close link'], 0, null]);
  });

  it('answers with the session that is there, also while that is unresponsive, and dials no second time (T-2.14)', async () => {
    await bench.launchAndFallSilent(40_000);
    expect(bench.host.status('one')?.state).toBe('unresponsive');
    expect(await open()).toMatchObject({ id: 'one' });
    expect(bench.dials).toBe(1);
  });

  it('is refused while the session that is there is lost, and dials no second time (T-2.14)', async () => {
    await bench.launchAndFallSilent(45_001);
    await expect(open()).rejects.toEqual(code('transport-lost'));
    expect([bench.dials, bench.clock.pending]).toEqual([1, 0]);
  });

  it('is refused when the session of another caller was recorded and lost during the dial (T-2.1, T-2.14)', async () => {
    const dial = Promise.withResolvers<void>();
    bench.dialsWaitFor = dial.promise;
    const late = open();
    await bench.clock.rest();
    bench.dialsWaitFor = Promise.resolve();
    const link = await bench.launch();
    link.end();
    dial.resolve();
    await expect(late).rejects.toEqual(code('transport-lost'));
    expect(bench.links.map((each) => each.count('close link'))).toEqual([1, 1]);
    expect(bench.log.losses).toHaveLength(1);
  });

  it('has one winner of two, at whatever distance they follow each other, and the loser closes what it got (T-2.1)', async () => {
    let losers = 0;
    for (let delay = 0; delay < 30; delay += 1) {
      bench = new Bench();
      const first = open();
      await afterMicrotasks(delay);
      const second = open();
      const [one, other] = await Promise.all([first, second]);
      expect(one).toBe(other);
      const closed = bench.links.filter(({ ended }) => ended);
      expect(bench.links.length - closed.length).toBe(1);
      losers += closed.length;
      for (const link of closed)
        expect(link.journal.filter((what) => what.startsWith('close'))).toEqual(['close forward', 'close link']);
      await bench.clock.advance(15_000);
      expect(closed.map((link) => link.count('probe'))).toEqual(closed.map(() => 0));
      expect(bench.links.flatMap(({ journal }) => journal.filter((what) => what === 'probe'))).toHaveLength(1);
      expect(bench.metadata.writes).toBe(way === 'launch' ? 1 : 0);
    }
    expect(losers).toBeGreaterThan(2);
  });

  it('goes on with the session of the faster one when that holds the near end (T-2.1)', async () => {
    const dial = Promise.withResolvers<void>();
    bench.dialsWaitFor = dial.promise;
    const late = open();
    await bench.clock.rest();
    bench.dialsWaitFor = Promise.resolve();
    const faster = await bench.host.launch(SPEC);
    bench.prepare = (link) => (link.refusesForward = true);
    dial.resolve();
    expect(await late).toBe(faster);
    expect(bench.link.journal.filter((what) => what.startsWith('close'))).toEqual(['close link']);
  });

  it('is called off by a close of the host, which waits for it and leaves nothing', async () => {
    bench.dialsWaitFor = new Promise(() => undefined);
    const opening = open().catch((error: unknown) => error);
    await bench.clock.rest();
    await bench.host.close();
    expect(await opening).toEqual(code('host-closed'));
    expect([bench.links.length, bench.clock.pending]).toEqual([0, 0]);
    await expect(open()).rejects.toEqual(code('host-closed'));
  });

  it('closes what it got when the host is closed between the dial and the record', async () => {
    let closing: Promise<void> | undefined;
    bench.prepare = (link) => {
      link.called = (what) => {
        if (what === 'forward') closing = bench.host.close();
      };
    };
    await expect(open()).rejects.toEqual(code('host-closed'));
    await closing;
    expect([bench.closesAndCommands, bench.clock.pending]).toEqual([['close forward', 'close link'], 0]);
  });

  it.each([
    ['an interval of zero', { interval: 0, deadline: 45_000 }],
    ['a negative interval', { interval: -1, deadline: 45_000 }],
    ['an interval that is no number', { interval: Number.NaN, deadline: 45_000 }],
    ['a deadline of zero', { interval: 15_000, deadline: 0 }],
    ['a deadline of exactly two intervals', { interval: 15_000, deadline: 30_000 }],
  ])('starts no watchdog with %s and says so in one line (T-2.9)', async (_, timing) => {
    bench = new Bench({ ...PACE, timing });
    await open();
    expect([bench.clock.pending, bench.log.unwatched, bench.log.losses]).toEqual([0, ['one'], []]);
    expect(bench.host.status('one')).toMatchObject({ state: 'connected', silence: null });
  });

  it('starts a watchdog with a deadline just above two intervals (T-2.9)', async () => {
    bench = new Bench({ ...PACE, timing: { interval: 15_000, deadline: 30_001 } });
    await open();
    expect([bench.clock.pending, bench.log.unwatched]).toEqual([2, []]);
  });
});

/** @param session what the caller was given; undefined where it was refused */
const expectBothOrNeither = async (session: OpenSession | undefined) => {
  const isRecorded = bench.host.status('one') !== null;
  expect(bench.clock.pending).toBe(isRecorded ? 2 : 0);
  await bench.clock.advance(15_000);
  // A reset of what is not recorded yet has a link of its own, without a forward.
  expect(
    bench.links.map(({ listeners, ended, forwards, journal }) => [
      forwards.length,
      listeners,
      ended,
      journal.includes('probe'),
    ]),
  ).toEqual(
    bench.links.map(({ forwards }) =>
      isRecorded && forwards.length === 1 ? [1, 1, false, true] : [forwards.length, 0, true, false],
    ),
  );
  // A watchdog that starts after its session was let go finds the link at its end and calls that a loss.
  expect([bench.log.losses, session?.lost.aborted ?? false]).toEqual([[], false]);
};

describe('a session without a connection', () => {
  const local = { id: 'one', farSocketPath: '/far.sock' };

  it('has no watchdog and no error, and its address is the far agent itself (T-2.3)', async () => {
    const session = await bench.host.launch(local);
    expect(session.address).toEqual({ kind: 'unix', path: '/far.sock' });
    expect([bench.dials, bench.clock.pending, bench.log.unwatched]).toEqual([0, 0, []]);
    expect(bench.host.status('one')).toMatchObject({ state: 'connected', silence: null, roundTrip: null, error: null });
  });

  it.each([
    ['stopped', () => bench.host.stop('one')],
    ['reset', () => bench.host.reset('one')],
    ['closed with its host', () => bench.host.close()],
  ])('can be %s (T-2.3)', async (_, dispose) => {
    await bench.host.launch(local);
    await dispose();
    expect(bench.host.status('one')).toBeNull();
  });

  it('has nothing to be resumed by', async () => {
    await bench.host.launch(local);
    expect(await bench.host.stop('one')).toEqual({ cleanUp: 'skipped', farStop: 'skipped', canBeResumed: false });
    expect(bench.metadata.writes).toBe(0);
  });
});

describe('a loss', () => {
  it('closes the forward, then the link, in the turn of the verdict, and leaves the record (T-1.5, T-2.6)', async () => {
    const link = await bench.launch();
    link.end();
    expect(link.journal.at(-1)).toBe('close forward');
    await bench.clock.rest();
    expect(bench.closesAndCommands).toEqual(['close forward', 'close link']);
    await bench.clock.advance(3_600_000);
    expect(bench.host.status('one')).toMatchObject({ state: 'disconnected' });
    await bench.host.stop('one');
    expect(bench.host.status('one')).toBeNull();
  });

  it('is one warning with session, host, cause and silence, even when no answer ever came (T-1.9)', async () => {
    await bench.launchAndFallSilent(45_001);
    expect(bench.log.losses).toEqual([
      { session: 'one', remoteHost: 'far-1.example', cause: 'silence', silence: 45_001, failedCloses: {} },
    ]);
  });

  it('is told once, when two causes come in one turn (T-1.9, T-1.4)', async () => {
    const link = await bench.launchAndFallSilent(20_000);
    link.failProbe();
    link.end();
    await bench.clock.advance(100_000);
    expect(bench.log.losses).toMatchObject([{ cause: 'link-ended', silence: 20_000 }]);
  });

  it.each([
    ['forward', { forwardClosing: 'rejects' }, { forward: 'The forward cannot be closed' }],
    ['link', { closing: 'throws' }, { link: 'The link cannot be closed' }],
    [
      'forward and link',
      { forwardClosing: 'hangs', closing: 'hangs' },
      { forward: 'It has not ended within 1000 ms', link: 'It has not ended within 1000 ms' },
    ],
  ] as const)(
    'names in its warning that the %s could not be closed, with the silence of the verdict (T-1.5, T-1.9)',
    async (_, broken, failedCloses) => {
      bench.prepare = (link) => Object.assign(link, broken);
      await bench.launchAndFallSilent(45_001);
      await bench.clock.advance(2_000);
      expect(bench.log.losses).toMatchObject([{ silence: 45_001, failedCloses }]);
      expect(bench.link.journal.slice(-2)).toEqual(['close forward', 'close link']);
    },
  );

  it('claims nothing about a near end that could not be closed (T-1.6)', async () => {
    bench.prepare = (link) => (link.forwardClosing = 'rejects');
    const link = await bench.launchAndFallSilent(45_001);
    expect(link.forwards.map(({ isOpen }) => isOpen)).toEqual([true]);
    expect([bench.log.losses.length, bench.host.status('one')?.state]).toEqual([1, 'disconnected']);
  });

  it('refuses at the near end when that could be closed (T-1.6)', async () => {
    const link = await bench.launchAndFallSilent(45_001);
    expect(link.forwards.map(({ isOpen }) => isOpen)).toEqual([false]);
  });

  it('reaches who holds the session in the turn of the verdict, as an error with a code (T-1.4)', async () => {
    const session = await bench.host.launch(SPEC);
    bench.link.end();
    expect([session.lost.aborted, session.lost.reason]).toEqual([true, code('transport-lost')]);
  });

  it('is marked before anything is closed, and told to others after that (T-1.4)', async () => {
    const seen: unknown[] = [];
    const session = await bench.host.launch(SPEC);
    bench.link.called = (what) => seen.push([what, bench.host.status('one')?.state, session.lost.aborted]);
    session.lost.addEventListener('abort', () => seen.push('told'));
    bench.link.end();
    expect(seen).toEqual([['close forward', 'disconnected', false], 'told']);
  });

  it('has its line in the log before a stop returns that was called by whoever heard of it (T-2.7)', async () => {
    const session = await bench.host.launch(SPEC);
    const stopped = new Promise<number>((resolve) => {
      session.lost.addEventListener('abort', () => {
        void bench.host.stop('one').then(() => resolve(bench.log.losses.length));
      });
    });
    bench.link.end();
    expect([await stopped, bench.clock.pending]).toEqual([1, 0]);
  });

  it('sends no command and changes nothing of what a resume needs (T-1.11)', async () => {
    await bench.launchAndFallSilent(45_001);
    await bench.clock.advance(3_600_000);
    expect(bench.closesAndCommands).toEqual(['close forward', 'close link']);
    expect([bench.metadata.writes, bench.metadata.kept.has('one')]).toEqual([1, true]);
  });

  it('is the end of all probes, also when the session is stopped later (T-2.12)', async () => {
    const link = await bench.launchAndFallSilent(45_001);
    await bench.clock.advance(3_600_000);
    await bench.host.stop('one');
    expect([link.count('probe'), bench.clock.pending]).toEqual([1, 0]);
  });
});

describe('a path that dies without a word, at 101 s, with the last answer at 100 s (C28)', () => {
  /** The far side answers each probe at once, the last one after 10 s. */
  const dieAt101 = async () => {
    const session = await bench.host.launch(SPEC);
    await bench.clock.advance(89_999);
    bench.link.probes = 'waits';
    await bench.clock.advance(10_001);
    bench.link.answerProbe();
    await bench.clock.advance(1_000);
    bench.link.answer = () => 'silence';
    const inFlight = bench.link.exec('in flight').catch(() => bench.clock.now());
    return { session, inFlight };
  };

  it('is lost after 145.000 s and before 161 s, in one teardown that lets go of who waits, with one warning of its silence (C28)', async () => {
    const { session, inFlight } = await dieAt101();
    await bench.clock.advance(44_000);
    expect([bench.clock.now(), session.lost.aborted, bench.host.status('one')?.state]).toEqual([
      145_000,
      false,
      'unresponsive',
    ]);
    await bench.clock.advance(1);
    expect([await inFlight, session.lost.aborted]).toEqual([145_001, true]);
    await bench.clock.advance(3_600_000);
    expect(bench.closesAndCommands.slice(1)).toEqual(['close forward', 'close link']);
    expect(bench.log.losses).toMatchObject([{ silence: 45_001 }]);
    expect([bench.link.mostProbesAtOnce, bench.clock.pending, bench.link.waiting]).toEqual([1, 0, 0]);
  });

  it('is stopped at 135 s without a remote command and without waiting for the deadline (C28)', async () => {
    await dieAt101();
    await bench.clock.advance(34_000);
    expect(await bench.host.stop('one')).toMatchObject({ cleanUp: 'skipped', farStop: 'skipped' });
    expect([bench.clock.now(), bench.log.losses, bench.clock.pending, bench.link.waiting]).toEqual([135_000, [], 0, 0]);
  });
});

describe('a path that is busy for ten minutes, with answers after 5 to 25 s (C29)', () => {
  it('keeps its session, and a probe leaves only after the one before was answered (C29)', async () => {
    const session = await bench.host.launch(SPEC);
    const { link } = bench;
    link.probes = 'waits';
    for (let answers = 0; bench.clock.now() < 600_000; answers += 1) {
      await bench.clock.advance(15_000);
      expect([link.count('probe'), link.waiting]).toEqual([answers + 1, 1]);
      await bench.clock.advance(5_000 + ((answers * 7_000) % 20_001));
      link.answerProbe();
      await bench.clock.rest();
    }
    expect([session.lost.aborted, bench.log.losses, link.mostProbesAtOnce]).toEqual([false, [], 1]);
  });
});

describe('the status of a session', () => {
  it('is answered from memory in every state (T-1.7)', async () => {
    const link = await bench.launch();
    const calls = link.journal.length;
    expect(bench.host.status('one')).toMatchObject({ state: 'connected' });
    link.probes = 'waits';
    await bench.clock.advance(30_001);
    expect(bench.host.status('one')).toMatchObject({ state: 'unresponsive', silence: 30_001 });
    expect(link.journal.slice(calls)).toEqual(['probe']);
    await bench.clock.advance(15_000);
    expect(bench.host.status('one')).toMatchObject({
      state: 'disconnected',
      silence: null,
      error: { code: 'transport-lost', message: expect.stringContaining('lost') },
    });
    expect(link.journal.slice(calls)).toEqual(['probe', 'close forward', 'close link']);
  });

  it('tells the round trip and the silence of a session that answers', async () => {
    const link = await bench.launch();
    link.probes = 'waits';
    await bench.clock.advance(15_180);
    link.answerProbe();
    await bench.clock.advance(4_000);
    expect(bench.host.status('one')).toMatchObject({ state: 'connected', roundTrip: 180, silence: 4_000 });
  });

  it('is null for a session that is not there', () => expect(bench.host.status('nobody')).toBeNull());
});

describe('what a resume needs', () => {
  it('is kept by a launch and read by a resume', async () => {
    await bench.launch();
    await bench.host.close();
    expect(bench.metadata.kept.get('one')).toEqual({ target: SPEC.target, near, farSocketPath });
  });

  it('is kept before the launch is over, and a session of which nothing can be kept is given to nobody', async () => {
    bench.metadata.isBroken = true;
    await expect(bench.host.launch(SPEC)).rejects.toEqual(code('metadata-unwritable'));
    expect([bench.closesAndCommands, bench.clock.pending]).toEqual([['close forward', 'close link'], 0]);
    expect(bench.host.status('one')).toBeNull();
  });

  it('has to be there, and to be readable', async () => {
    await expect(bench.host.resume('one')).rejects.toEqual(code('unknown-session'));
    bench.metadata.isBroken = true;
    await expect(bench.host.resume('one')).rejects.toEqual(code('metadata-unreadable'));
    expect(bench.dials).toBe(0);
  });

  it('is kept before anybody has the session, also whoever comes second, and a session of which nothing can be kept is given to nobody', async () => {
    const disk = Promise.withResolvers<void>();
    bench.metadata.remember = () => disk.promise;
    const first = bench.host.launch(SPEC).catch((error: unknown) => error);
    await bench.clock.rest();
    expect(bench.host.status('one')?.state).toBe('connected');
    let isGiven = false;
    const second = bench.host
      .launch(SPEC)
      .catch((error: unknown) => error)
      .finally(() => (isGiven = true));
    await bench.clock.rest();
    expect(isGiven).toBe(false);
    disk.reject(new Error('The disk is full'));
    expect([await first, await second]).toEqual([code('metadata-unwritable'), code('metadata-unwritable')]);
    expect(bench.dials).toBe(1);
  });

  it('is kept of a resumed session also where a stop of the one before forgets it meanwhile', async () => {
    await bench.launch();
    bench.link.answer = (command) => (command === 'stop' ? 'silence' : SUCCESS);
    const stopping = bench.host.stop('one');
    await bench.clock.rest();
    const dial = Promise.withResolvers<void>();
    bench.dialsWaitFor = dial.promise;
    const resuming = bench.host.resume('one');
    await bench.clock.rest();
    bench.link.answerCommands();
    expect(await stopping).toMatchObject({ canBeResumed: false });
    dial.resolve();
    await resuming;
    expect(bench.metadata.kept.get('one')).toEqual({ target: SPEC.target, near, farSocketPath });
  });

  it.each(['', '.hidden', '../up', 'a/b', 'a b', 'x'.repeat(65)])('is never kept under "%s"', async (id) => {
    await expect(bench.host.launch({ ...SPEC, id })).rejects.toEqual(code('bad-session-id'));
    await expect(bench.host.resume(id)).rejects.toEqual(code('bad-session-id'));
    await expect(bench.host.reset(id)).rejects.toEqual(code('bad-session-id'));
    expect([bench.dials, bench.metadata.writes]).toEqual([0, 0]);
  });
});

it.each(['stop', 'reset'] as const)('gives nobody a session that a %s lets go while it is opened', async (way) => {
  const disk = Promise.withResolvers<void>();
  bench.metadata.remember = () => disk.promise;
  const launching = bench.host.launch(SPEC);
  await bench.clock.rest();
  const waiting = bench.host.launch(SPEC);
  const going = bench.host[way]('one');
  await bench.clock.rest();
  disk.resolve();
  await going;
  await expect(launching).rejects.toEqual(code('session-ended'));
  await expect(waiting).rejects.toEqual(code('session-ended'));
});

it('refuses a session that was lost while what it needs was being kept (T-2.14)', async () => {
  bench.metadata.called = () => bench.link.end();
  await expect(bench.host.launch(SPEC)).rejects.toEqual(code('transport-lost'));
  expect(bench.host.status('one')?.state).toBe('disconnected');
});

import { describe, expect, it } from '@jest/globals';
import { LIMITS } from '@rollcall/check-schedule';
import { Lifetime } from '@rollcall/lifetimes';
import { ManualClock } from '@rollcall/lifetimes/testing';
import type { CheckRequest } from '@rollcall/wire';
import { accepted, answered, InMemoryPlane, lost, PIN, refused, type Behaviour } from '../testing/in-memory-plane.js';
import type { Probe } from '../probes/probe.js';
import { ProbedReadiness } from '../probes/probed-readiness.js';
import { MemoryNotebook } from '../testing/memory-notebook.js';
import { ScriptedProbe } from '../testing/scripted-probe.js';
import { SettableReadiness } from '../testing/settable-readiness.js';
import { CheckLoop } from './check-loop.js';
import type { ClockSighting } from './clock-sighting.js';
import type { Key } from './enrolment.js';

const key = (generation: number): Key => ({
  secret: `rcm_${generation}`,
  generation,
  address: 'https://plane.example:443',
});

/** A loop that runs, with everything around it in memory. */
const running = async (
  behave: Behaviour = () => accepted(),
  keys: readonly Key[] = [key(1)],
  probes: readonly Probe[] | null = null,
) => {
  const clock = new ManualClock();
  const plane = new InMemoryPlane(() => clock.monotonic());
  plane.behave = behave;
  const notebook = new MemoryNotebook();
  const readiness = new SettableReadiness();
  const probed = probes && new ProbedReadiness({ clock, probes });
  const lines: string[] = [];
  const sightings: ClockSighting[] = [];
  const write = (message: string) => void lines.push(message);
  let ids = 0;
  const loop = new CheckLoop({
    clock,
    notebook,
    readiness: probed ?? readiness,
    portrait: { name: 'host', report: { hostname: 'host', agentVersion: '1', platform: 'linux', arch: 'x64' } },
    boot: { counter: 7, id: '00000001' },
    limits: LIMITS,
    log: { info: write, warn: write, error: write },
    chance: () => 0.5,
    newCheckId: () => `check-${(ids += 1)}`,
    newBootId: () => '00000002',
    onSighting: (sighting) => sightings.push(sighting),
  });
  const lifetime = new Lifetime();
  lifetime.run((signal) => loop.run(signal));
  if (probed) lifetime.run((signal) => probed.run(signal));
  if (keys.length > 0) loop.use({ plane, keys, chain: null, interval: 30_000, machine: null });
  await clock.advance(0);
  return {
    clock,
    plane,
    notebook,
    readiness,
    loop,
    lines,
    sightings,
    lifetime,
    said: () => plane.received.map(({ body }) => body),
    async [Symbol.asyncDispose]() {
      await lifetime.end();
      // A loop that ended has no timer left.
      expect(clock.sleeping).toBe(0);
    },
  };
};

const minutes = (n: number) => n * 60_000;

describe('the check loop', () => {
  it('checks at once and then once per interval (O16, O33)', async () => {
    await using test = await running();
    expect(test.plane.received).toHaveLength(1);
    await test.clock.advance(minutes(10));
    expect(test.plane.gaps).toEqual(Array(20).fill(30_000));
    expect(test.said().map(({ sequence }) => sequence)).toEqual(Array.from({ length: 21 }, (_, place) => place + 1));
  });

  it('presents the chain token of the newest answer, and keeps it', async () => {
    let n = 0;
    await using test = await running(() => accepted({ chain: `e.${(n += 1)}.m` }));
    await test.clock.advance(minutes(1));
    expect(test.said().map(({ chain }) => chain)).toEqual([null, 'e.1.m', 'e.2.m']);
    expect(test.notebook.chains).toEqual(['e.1.m', 'e.2.m', 'e.3.m']);
  });

  it('survives nonsense intervals: never under the floor, never over the ceiling, never more than six a minute (C10)', async () => {
    const values = [30, 0, -5, null, 'abc', 0.001, 1e9, undefined, 30];
    let turn = 0;
    await using test = await running(() => accepted({ interval: values[(turn += 1) - 1] ?? null }));
    await test.clock.advance(minutes(70));
    expect(test.plane.gaps.slice(0, 8)).toEqual([30_000, 30_000, 30_000, 30_000, 30_000, 10_000, 3_600_000, 30_000]);
  });

  it('follows an interval that was changed, from the answer that carried it on (C10)', async () => {
    let interval = 30;
    await using test = await running(() => accepted({ interval }));
    await test.clock.advance(minutes(1));
    interval = 90;
    await test.clock.advance(minutes(5));
    expect(test.plane.gaps).toEqual([30_000, 30_000, 30_000, 90_000, 90_000, 90_000]);
  });

  it('checks at once when readiness changes, but keeps the floor between checks (O16)', async () => {
    await using test = await running();
    await test.clock.advance(15_000);
    test.readiness.set(['disk-full']);
    await test.clock.advance(0);
    expect(test.plane.gaps).toEqual([15_000]);
    expect(test.said()[1]?.blockers).toEqual(['disk-full']);

    for (let flap = 0; flap < 50; flap += 1) {
      test.readiness.set(flap % 2 ? [] : ['disk-full']);
      await test.clock.advance(1_000);
    }
    expect(Math.min(...test.plane.gaps.slice(1))).toBe(10_000);
    expect(test.plane.received.length).toBeLessThanOrEqual(8);
  });

  it('says "not probed" as long as nothing was probed (O25)', async () => {
    await using test = await running();
    expect(test.said()[0]?.blockers).toBeNull();
  });

  it('says of which codes nothing is known at present, where there are any (O25)', async () => {
    await using test = await running();
    test.readiness.set(['disk-full'], 'clock-wrong');
    await test.clock.advance(10_000);
    test.readiness.set(['disk-full']);
    await test.clock.advance(10_000);
    expect(test.said().map(({ notProbed }) => notProbed)).toEqual([undefined, ['clock-wrong'], undefined]);
  });

  it('misses and delays no check while a probe hangs (O13)', async () => {
    const disk = new ScriptedProbe('disk-full');
    disk.hangs();
    await using test = await running(undefined, undefined, [disk, new ScriptedProbe('clock-wrong')]);
    await test.clock.advance(minutes(10));
    // After five seconds it is known that the disk could not be probed, which is news; the floor is kept.
    expect(test.plane.gaps).toEqual([10_000, ...Array<number>(19).fill(30_000)]);
    expect(test.said()[0]).toMatchObject({ blockers: null });
    for (const body of test.said().slice(1)) expect(body).toMatchObject({ blockers: [], notProbed: ['disk-full'] });
    expect(disk.looks).toBe(1);
  });

  it('tells with each accepted check what time it was at the plane, and when it asked', async () => {
    await using test = await running(() => accepted({ serverTime: undefined }));
    const answers = [
      () => test.clock.sleep(2_000).then(() => accepted({ serverTime: '2026-01-01T00:00:31.500Z' })),
      () => accepted({ serverTime: 'noon' }),
      () => refused('unavailable'),
      () => accepted({ serverTime: '2026-01-01T12:00:00.000Z' }),
    ];
    test.plane.behave = () => answers.shift()?.() ?? null;
    await test.clock.advance(minutes(2) + 5_000);
    const start = Date.UTC(2026, 0, 1);
    expect(test.sightings).toEqual([
      { sentAt: start + 30_000, receivedAt: start + 32_000, serverTime: start + 31_500 },
      { sentAt: start + 122_000, receivedAt: start + 122_000, serverTime: start + 43_200_000 },
    ]);
  });

  it('checks at once when it is given a credential, and has nothing to say before (O16)', async () => {
    await using test = await running(() => accepted(), []);
    await test.clock.advance(minutes(60));
    expect(test.plane.received).toEqual([]);
    test.readiness.set(['disk-full']);
    await test.clock.advance(minutes(1));
    test.loop.use({ plane: test.plane, keys: [key(1)], chain: null, interval: 30_000, machine: null });
    await test.clock.advance(0);
    expect(test.plane.received).toHaveLength(1);
  });

  it('begins anew with another enrolment: what the plane before told is not shown to this one (O5)', async () => {
    await using test = await running(() => accepted({ chain: 'before.1.m' }));
    const other = new InMemoryPlane(() => test.clock.monotonic());
    test.loop.use({ plane: other, keys: [key(2)], chain: null, interval: 30_000, machine: null });
    await test.clock.advance(30_000);
    expect(other.received[0]?.body).toMatchObject({ chain: null, believes: { generation: 2 } });
    expect(other.received[0]?.body.believes).not.toHaveProperty('machine');
  });
});

describe('a check that failed', () => {
  it('is repeated with its id and body, at the interval and never slower, until it is taken', async () => {
    let failures = 5;
    await using test = await running(() => ((failures -= 1) >= 0 ? lost() : accepted()));
    await test.clock.advance(minutes(3));
    expect(test.plane.gaps.slice(0, 5)).toEqual([15_000, 30_000, 30_000, 30_000, 30_000]);
    const [first, ...others] = test.said();
    expect(others.slice(0, 5)).toEqual(Array(5).fill(first));
    expect(others[5]?.checkId).not.toBe(first?.checkId);
  });

  it('is overtaken by news: what is said then is new, under an id of its own (O33)', async () => {
    let failures = 1;
    await using test = await running(() => ((failures -= 1) >= 0 ? lost() : accepted()));
    test.readiness.set(['disk-full']);
    await test.clock.advance(15_000);
    const [failed, next] = test.said();
    expect([failed?.blockers, next?.blockers]).toEqual([null, ['disk-full']]);
    expect(next?.checkId).not.toBe(failed?.checkId);
  });

  it('is given up after ten seconds without an answer, on a connection that is not used again', async () => {
    await using test = await running(() => null);
    await test.clock.advance(9_999);
    expect(test.plane.abandoned).toBe(0);
    await test.clock.advance(1);
    expect(test.plane.abandoned).toBe(1);
    await test.clock.advance(minutes(1));
    expect(new Set(test.said().map(({ checkId }) => checkId)).size).toBe(1);
  });

  it.each<[string, string[], number]>([
    ['7', ['7'], 11_000],
    ['-5', ['-5'], 11_000],
    ['banana', ['banana'], 30_000],
    ['86400', ['86400'], 300_000],
    ['20 and 40', ['20', '40'], 44_000],
  ])('comes again when Retry-After: %s allows it, on 429 and 503 alike (C16)', async (_, headers, gap) => {
    for (const code of ['slow-down', 'unavailable'] as const) {
      let refusals = 1;
      await using test = await running(() =>
        (refusals -= 1) >= 0 ? refused(code, {}, { 'retry-after': headers }) : accepted(),
      );
      await test.clock.advance(minutes(6));
      expect(test.plane.gaps[0]).toBe(gap);
      expect(test.loop.status.state).toBe('checking');
    }
  });

  it('changes nothing when something else answered for the plane (O20)', async () => {
    await using test = await running(() => answered(410, '<html>Gone fishing</html>', 'text/html'));
    await test.clock.advance(minutes(5));
    expect(test.plane.received).toHaveLength(11);
    expect(test.notebook.revoked).toEqual([]);
    expect(test.loop.status).toMatchObject({ state: 'checking', lastOutcome: { code: 'not-ours' } });
  });
});

describe('a refused credential', () => {
  it('that was revoked ends the checks until a person enrols again; the loop itself goes on (O20)', async () => {
    await using test = await running(() => refused('credential-revoked'));
    await test.clock.advance(minutes(24 * 60));
    expect(test.plane.received).toHaveLength(1);
    expect(test.loop.status.state).toBe('waiting-for-person');
    expect(test.notebook.revoked).toEqual([key(1)]);

    test.plane.behave = () => accepted();
    test.loop.use({ plane: test.plane, keys: [key(2)], chain: null, interval: 30_000, machine: null });
    await test.clock.advance(0);
    expect(test.plane.received.map(({ credential }) => credential)).toEqual(['rcm_1', 'rcm_2']);
  });

  it('that is a generation behind is tried again at the interval, with the key in hand (O20)', async () => {
    await using test = await running(() => refused('generation-behind'));
    await test.clock.advance(minutes(5));
    expect(test.plane.gaps).toEqual(Array(10).fill(30_000));
    expect(new Set(test.plane.received.map(({ credential }) => credential))).toEqual(new Set(['rcm_1']));
  });

  it('that nobody knows is kept and tried ever more slowly, for ever (O20)', async () => {
    await using test = await running(() => refused('credential-unknown'));
    await test.clock.advance(minutes(60));
    expect(test.plane.gaps.map((gap) => gap / 1_000)).toEqual([60, 120, 240, 480, 900, 900, 900]);
    expect(test.loop.status.lastOutcome?.sentence).toContain('Nothing was removed');
    test.plane.behave = () => accepted();
    await test.clock.advance(minutes(17));
    expect(test.plane.gaps.at(-1)).toBe(30_000);
  });

  it('that was not registered yet gives way to the one before it, and neither is lost (C04)', async () => {
    await using test = await running(
      ({ credential }) => (credential === 'rcm_4' ? refused('credential-unknown') : accepted()),
      [key(4), key(3)],
    );
    await test.clock.advance(minutes(2));
    const used = test.plane.received.map(({ credential }) => credential);
    expect(used.slice(0, 3)).toEqual(['rcm_4', 'rcm_3', 'rcm_3']);
    expect(test.notebook.confirmed).toEqual([]);
  });

  it('that has succeeded is the one from then on (C04)', async () => {
    await using test = await running(() => accepted(), [key(4), key(3)]);
    await test.clock.advance(minutes(2));
    expect(test.notebook.confirmed).toEqual([key(4)]);
  });

  it('is not the reason for a slow pace when only its owner is overloaded: both unknown slows down (C04, O20)', async () => {
    await using test = await running(() => refused('credential-unknown'), [key(4), key(3)]);
    await test.clock.advance(minutes(20));
    expect(test.plane.gaps.map((gap) => gap / 1_000)).toEqual([10, 60, 120, 240, 480]);
  });
});

describe('a stale check', () => {
  it('takes the start after the highest that the plane knows, and checks at once', async () => {
    await using test = await running(({ body }) =>
      body.boot.counter <= 41 ? refused('stale-check', { highestBoot: 41 }) : accepted(),
    );
    expect(test.said().map(({ boot, sequence }) => [boot.counter, boot.id, sequence])).toEqual([
      [7, '00000001', 1],
      [42, '00000002', 1],
    ]);
    expect(test.notebook.boots).toEqual([42]);
  });

  it('is not led to the last start of all by what cannot be true', async () => {
    await using test = await running(({ body }) =>
      body.boot.counter === 7 ? refused('stale-check', { highestBoot: 2 ** 31 - 1 }) : accepted(),
    );
    expect(test.said().map(({ boot }) => boot.counter)).toEqual([7, 8]);
  });

  it('makes no hot loop when everything is called stale', async () => {
    await using test = await running(() => refused('stale-check', { highestBoot: -3 }));
    await test.clock.advance(minutes(1));
    expect(test.plane.received).toHaveLength(4);
  });
});

describe('a body that the plane cannot take', () => {
  it('is not repeated: the next check carries only what makes it one, and the same display is not sent again (C11)', async () => {
    const isWhole = (body: CheckRequest) => body.report !== undefined;
    await using test = await running(({ body }) => (isWhole(body) ? refused('invalid-body') : accepted()));
    await test.clock.advance(minutes(2));
    expect(test.said().map(isWhole)).toEqual([true, false, false, false, false]);
    expect(test.plane.gaps[0]).toBe(30_000);
    // What is to be shown has changed, so it may be good now.
    test.readiness.set(['disk-full']);
    await test.clock.advance(minutes(1));
    expect(test.said().map(isWhole).slice(5, 7)).toContain(true);
  });
});

describe('the pins of an answer', () => {
  const other = `sha256/${'B'.repeat(43)}=`;

  it('are expected and kept from then on', async () => {
    await using test = await running(() => accepted({ pins: [PIN, other] }));
    expect(test.plane.expected).toEqual([[PIN, other]]);
    expect(test.notebook.answers[0]?.pins).toEqual([PIN, other]);
  });

  it.each([[[other]], [[]], [['nonsense', PIN]]])(
    'are ignored when they would shut out the plane that told them: %p',
    async (pins) => {
      await using test = await running(() => accepted({ pins }));
      expect(test.plane.expected).toEqual([]);
      expect(test.notebook.answers[0]?.pins).toBeNull();
    },
  );
});

describe('a machine that slept', () => {
  it('checks exactly once within five seconds of waking up, on a new connection, without a burst (C14)', async () => {
    await using test = await running();
    await test.clock.advance(5_000);
    test.clock.suspend(8 * 3_600_000);
    const woke = test.clock.monotonic();
    await test.clock.advance(5_000);
    expect(test.plane.received).toHaveLength(2);
    expect((test.plane.received[1]?.at ?? 0) - woke).toBeLessThanOrEqual(5_000);
    expect(test.plane.abandoned).toBe(1);
    await test.clock.advance(minutes(2));
    expect(test.plane.gaps.slice(1)).toEqual([30_000, 30_000, 30_000, 30_000]);
  });

  it('gives up the check that was under way on a dead connection, and repeats it under its id (C14)', async () => {
    let isDead = true;
    await using test = await running(() => (isDead ? null : accepted()));
    await test.clock.advance(1_000);
    test.clock.suspend(8 * 3_600_000);
    isDead = false;
    await test.clock.advance(5_000);
    expect(test.said().map(({ checkId }) => checkId)).toEqual(['check-1', 'check-1']);
    await test.clock.advance(minutes(1));
    expect(test.plane.gaps.slice(1)).toEqual([30_000, 30_000]);
  });

  it('is not taken for one when the clock is corrected, forwards a little or backwards a lot', async () => {
    await using test = await running();
    await test.clock.advance(5_000);
    test.clock.suspend(2_500);
    await test.clock.advance(1_000);
    test.clock.suspend(-3_600_000);
    await test.clock.advance(24_000);
    expect(test.plane.gaps).toEqual([30_000]);
  });
});

describe('a wrong clock', () => {
  it('is named in the status, costs nothing, and the plane is back within an interval after it was set (C13)', async () => {
    let isWrong = true;
    await using test = await running(() =>
      isWrong ? lost('certificate-not-yet-valid', 'The certificate is valid from 2026') : accepted(),
    );
    await test.clock.advance(minutes(4 * 60));
    expect(test.loop.status.clockProblem).toContain('The clock of this machine is wrong');
    expect(Math.max(...test.plane.gaps)).toBeLessThanOrEqual(33_000);
    expect(test.notebook.revoked).toEqual([]);
    isWrong = false;
    await test.clock.advance(33_000);
    expect(test.loop.status).toMatchObject({ clockProblem: null, lastOutcome: { code: 'accepted' } });
  });
});

describe('the goodbye', () => {
  it('is said once, with the reason, however often it is asked for (O17, C17)', async () => {
    await using test = await running();
    await test.lifetime.end();
    const [first, second] = [test.loop.goodbye('person'), test.loop.goodbye('signal')];
    await expect(Promise.all([first, second])).resolves.toEqual([true, true]);
    const last = test.said().filter(({ said }) => said === 'stopping');
    expect(last.map(({ reason, sequence }) => [reason, sequence])).toEqual([['person', 2]]);
  });

  it('waits for no floor: it goes out at once, also right after a check (O16)', async () => {
    await using test = await running();
    await test.lifetime.end();
    await test.loop.goodbye('signal');
    expect(test.plane.gaps).toEqual([0]);
  });

  it('takes the place of a check that is under way', async () => {
    await using test = await running(({ body }) => (body.said === 'running' ? null : accepted()));
    await test.clock.advance(2_000);
    await test.lifetime.end();
    await expect(test.loop.goodbye('signal')).resolves.toBe(true);
    expect(test.said().map(({ said, sequence }) => [said, sequence])).toEqual([
      ['running', 1],
      ['stopping', 2],
    ]);
  });

  it('is repeated once under the same id when its answer was lost (C17)', async () => {
    let losses = 1;
    await using test = await running(({ body }) =>
      body.said === 'stopping' && (losses -= 1) >= 0 ? lost() : accepted(),
    );
    await test.lifetime.end();
    await expect(test.loop.goodbye('signal')).resolves.toBe(true);
    const last = test.said().filter(({ said }) => said === 'stopping');
    expect(last).toHaveLength(2);
    expect(last[1]).toEqual(last[0]);
  });

  it('ends after five seconds when nobody answers, and was tried twice until then (O17)', async () => {
    await using test = await running(({ body }) => (body.said === 'stopping' ? null : accepted()));
    await test.lifetime.end();
    const goodbye = test.loop.goodbye('signal');
    let isOver = false;
    void goodbye.then(() => (isOver = true));
    await test.clock.advance(4_999);
    expect(isOver).toBe(false);
    await test.clock.advance(1);
    await expect(goodbye).resolves.toBe(false);
    expect(test.said().filter(({ said }) => said === 'stopping')).toHaveLength(2);
  });

  it('is not said by a machine that was deleted or never enrolled', async () => {
    await using deleted = await running(() => refused('credential-revoked'));
    await deleted.lifetime.end();
    await expect(deleted.loop.goodbye('signal')).resolves.toBe(false);
    expect(deleted.plane.received).toHaveLength(1);
    await using blank = await running(() => accepted(), []);
    await blank.lifetime.end();
    await expect(blank.loop.goodbye('signal')).resolves.toBe(false);
  });
});

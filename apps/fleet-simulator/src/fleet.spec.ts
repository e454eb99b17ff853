import { describe, expect, it } from '@jest/globals';
import { ManualClock } from '@rollcall/lifetimes/testing';
import { TransportError, type HttpAnswer, type HttpCall } from '@rollcall/pinned-https';
import { encodeEnrolmentToken, makeSecret, type CheckRequest, type EnrolmentRequest } from '@rollcall/wire';
import { Fleet, type FleetOptions, type SentCheck } from './index.js';

const PIN = `sha256/${'A'.repeat(43)}=`;
const token = (address = 'https://127.0.0.1:8443') =>
  encodeEnrolmentToken({ address, pins: [PIN], secret: makeSecret('rce') });

const json = (body: unknown, status = 200): HttpAnswer => ({
  status,
  mediaType: status < 400 ? 'application/json' : 'application/problem+json',
  header: () => [],
  body: JSON.stringify(body),
  pin: PIN,
});

type Answering = (call: HttpCall, attempt: number) => Promise<HttpAnswer> | HttpAnswer;

/** A fleet in front of a plane that answers as the test says. */
const fleetBefore = (answering: Answering, options: FleetOptions = {}) => {
  const clock = new ManualClock();
  const calls: (HttpCall & { readonly at: number })[] = [];
  const seen = { mostAtOnce: 0, now: 0, abandoned: 0, connected: 0 };
  const fleet = new Fleet({
    clock,
    seed: 1,
    eventEvery: 0,
    connect: () => {
      seen.connected += 1;
      return {
        request: async (call) => {
          calls.push({ ...call, at: clock.monotonic() });
          seen.now += 1;
          seen.mostAtOnce = Math.max(seen.mostAtOnce, seen.now);
          try {
            return await answering(call, calls.length);
          } finally {
            seen.now -= 1;
          }
        },
        abandonConnections: () => void (seen.abandoned += 1),
      };
    },
    ...options,
  });
  const bodies = () => calls.map(({ body = '' }) => JSON.parse(String(body)) as CheckRequest & EnrolmentRequest);
  return { fleet, clock, calls, bodies, seen };
};

const welcome: Answering = ({ path }) =>
  path === '/v1/enrolments' ? json({ machine: { id: 'm' }, interval: 30 }, 201) : json({ chain: 'c', interval: 30 });
const never = new AbortController().signal;

const runFor = async (fleet: Fleet, clock: ManualClock, rate: number, ms: number) => {
  const over = new AbortController();
  const accepted: string[] = [];
  const running = fleet.run({ rate, signal: over.signal, onAccepted: ({ checkId }) => accepted.push(checkId) });
  await clock.advance(ms);
  over.abort();
  // Answers that are under way have their deadline.
  await clock.advance(10_000);
  return { report: await running, accepted };
};

it('enrols each machine with a token, an identifier and a credential of its own', async () => {
  const { fleet, bodies } = fleetBefore(welcome);
  await fleet.enrol(100, () => token(), never);
  expect(fleet.size).toBe(100);
  for (const field of ['token', 'identifier', 'credentialHash'] as const)
    expect(new Set(bodies().map((body) => body[field])).size).toBe(100);
});

it('asks again under the same token and hash after a lost answer, and gives up on a refusal', async () => {
  let attempts = 0;
  const { fleet, bodies, clock } = fleetBefore((call, attempt) => {
    attempts = attempt;
    if (attempt === 1) throw new TransportError('unreachable', 'lost');
    return attempt === 2 ? welcome(call, attempt) : json({ code: 'token-refused' }, 403);
  });
  const enrolling = fleet.enrol(1, () => token(), never);
  await clock.advance(1_000);
  await enrolling;
  expect(bodies()[1]).toEqual(bodies()[0]);
  await expect(fleet.enrol(1, () => token(), never)).rejects.toThrow('was not admitted (refused: token-refused)');
  expect([attempts, fleet.size]).toEqual([3, 1]);
});

it('refuses tokens of two planes', async () => {
  const { fleet } = fleetBefore(welcome);
  const tokens = [token(), token('https://127.0.0.1:9443')];
  await expect(fleet.enrol(2, () => tokens.pop() ?? '', never)).rejects.toThrow('name different planes');
});

it('checks in at its rate, in turn, and hands over the id of each accepted check', async () => {
  const { fleet, clock, calls, bodies } = fleetBefore(welcome);
  await fleet.enrol(5, () => token(), never);
  const { report, accepted } = await runFor(fleet, clock, 100, 1_995);
  expect(report).toMatchObject({ accepted: 200, missed: 0, seconds: 1.995, machines: 5, seed: 1 });
  expect(accepted).toEqual(
    bodies()
      .slice(5)
      .map(({ checkId }) => checkId),
  );
  const checks = calls.slice(5);
  expect(checks.map(({ at }) => at)).toEqual(checks.map((_, index) => index * 10));
  // Each machine has had its turn before one has its next.
  const credentials = checks.map(({ headers }) => headers?.['authorization']);
  expect(new Set(credentials.slice(0, 5)).size).toBe(5);
  expect(credentials.slice(5, 10)).toEqual(credentials.slice(0, 5));
});

it('keeps a check with its body until it is answered', async () => {
  const { fleet, clock, bodies } = fleetBefore((call, attempt) => {
    if (attempt === 2) throw new TransportError('unreachable', 'lost');
    return welcome(call, attempt);
  });
  await fleet.enrol(1, () => token(), never);
  const { report } = await runFor(fleet, clock, 10, 950);
  expect(bodies()[2]).toEqual(bodies()[1]);
  expect(bodies()[3]).toMatchObject({ sequence: 2 });
  expect(report.outcomes).toEqual({ accepted: 9, 'lost: unreachable': 1 });
});

it('has no more requests under way than it may, and gives up a check that is not answered in ten seconds', async () => {
  const { fleet, clock, seen } = fleetBefore(
    (call, attempt) =>
      call.path === '/v1/enrolments'
        ? welcome(call, attempt)
        : new Promise<HttpAnswer>((_, reject) => {
            call.signal?.addEventListener('abort', () => reject(new TransportError('aborted', 'given up')));
          }),
    { connections: 3 },
  );
  await fleet.enrol(10, () => token(), never);
  const { report } = await runFor(fleet, clock, 100, 5_000);
  expect(seen.mostAtOnce).toBe(3);
  expect(report.outcomes).toEqual({ 'lost: no answer in time': 3 });
  expect(report.longestPause).toBe(5_000);
});

it('never has two checks of one machine under way, and holds up nobody else meanwhile', async () => {
  let hanging: string | undefined;
  const { fleet, clock, calls } = fleetBefore((call, attempt) => {
    const { authorization } = call.headers ?? {};
    if (attempt === 3) hanging = authorization;
    return authorization !== undefined && authorization === hanging
      ? new Promise<HttpAnswer>((_, reject) => {
          call.signal?.addEventListener('abort', () => reject(new TransportError('aborted', 'given up')));
        })
      : welcome(call, attempt);
  });
  await fleet.enrol(2, () => token(), never);
  const { report } = await runFor(fleet, clock, 10, 1_950);
  expect(calls.filter(({ headers }) => headers?.['authorization'] === hanging)).toHaveLength(1);
  expect(report.accepted).toBe(19);
});

it('measures from the moment that a check was due, so that a plane that holds up its callers does not look quick', async () => {
  const { fleet, clock } = fleetBefore(async (call, attempt) => {
    if (call.path === '/v1/check') await clock.sleep(200);
    return welcome(call, attempt);
  });
  await fleet.enrol(1, () => token(), never);
  const { report } = await runFor(fleet, clock, 10, 950);
  // Answers at 200, 400, 600, 800 and 1000 ms, to what was due at 0, 100, 200, 300 and 400.
  expect(report.latency.max).toBeCloseTo(600, 0);
});

it('leaves a machine alone for as long as the plane asked for', async () => {
  const { fleet, clock, calls } = fleetBefore((call, attempt) =>
    attempt === 2
      ? { ...json({ code: 'unavailable' }, 503), header: (name) => (name === 'retry-after' ? ['3'] : []) }
      : welcome(call, attempt),
  );
  await fleet.enrol(1, () => token(), never);
  const { report } = await runFor(fleet, clock, 1, 5_500);
  expect(calls.slice(1).map(({ at }) => at)).toEqual([0, 3_000, 4_000, 5_000]);
  expect(report.missed).toBe(2);
});

describe('a fleet that lives as agents do', () => {
  const live = async (fleet: Fleet, clock: ManualClock, ms: number) => {
    const over = new AbortController();
    const sent: SentCheck[] = [];
    const living = fleet.live({ signal: over.signal, onCheck: (check) => sent.push(check) });
    await clock.advance(ms);
    over.abort();
    await clock.advance(10_000);
    return { report: await living, sent };
  };

  it('checks in once per interval and machine, each on a connection of its own, spread over the interval', async () => {
    const { fleet, clock, calls, seen } = fleetBefore(welcome, { ownConnections: true });
    await fleet.enrol(100, () => token(), never);
    const { report } = await live(fleet, clock, 90_000 - 1);
    expect([seen.connected, report.accepted]).toEqual([1 + 100, 300]);
    const checks = calls.slice(100);
    expect(new Set(checks.map(({ headers }) => headers?.['authorization'])).size).toBe(100);
    const inThird = (third: number) => checks.filter(({ at }) => Math.floor(at / 10_000) === third).length;
    for (let third = 0; third < 9; third += 1) expect(inThird(third)).toBeGreaterThan(20);
  });

  it('comes back spread over an interval from a plane that was lost, and hands over what came back each time (C15)', async () => {
    let away = false;
    const { fleet, clock } = fleetBefore((call, attempt) => {
      if (away) throw new TransportError('unreachable', 'away');
      return welcome(call, attempt);
    });
    await fleet.enrol(200, () => token(), never);
    void clock.sleep(60_000).then(() => (away = true));
    void clock.sleep(360_000).then(() => (away = false));
    const { sent } = await live(fleet, clock, 420_000);
    const start = sent[0]?.at ?? 0;
    const returned = sent.filter(({ at, status }) => at - start > 355_000 && status === 200);
    const perSecond = new Map<number, number>();
    for (const { at } of returned)
      perSecond.set(Math.floor(at / 1_000), (perSecond.get(Math.floor(at / 1_000)) ?? 0) + 1);
    expect(returned.length).toBeGreaterThan(350);
    expect(Math.max(...perSecond.values())).toBeLessThan((3 * returned.length) / 60);
    expect(sent.find(({ status }) => status === null)).toMatchObject({
      outcome: 'lost: unreachable',
      retryAfter: null,
    });
  });
});

it('waits at the end for what is under way, and has given up everything when it is disposed of', async () => {
  let answer: (answer: HttpAnswer) => void = () => undefined;
  const { fleet, clock, seen } = fleetBefore((call, attempt) =>
    call.path === '/v1/enrolments'
      ? welcome(call, attempt)
      : new Promise<HttpAnswer>((resolve, reject) => {
          answer = resolve;
          call.signal?.addEventListener('abort', () => reject(new TransportError('aborted', 'given up')));
        }),
  );
  await fleet.enrol(1, () => token(), never);
  const over = new AbortController();
  const running = fleet.run({ rate: 1, signal: over.signal });
  await clock.advance(100);
  over.abort();
  await clock.advance(100);
  answer(json({ chain: 'c' }));
  expect((await running).outcomes).toEqual({ accepted: 1 });

  const again = fleet.run({ rate: 1, signal: never });
  await clock.advance(100);
  await expect(fleet.run({ rate: 1, signal: never })).rejects.toThrow('running already');
  await fleet[Symbol.asyncDispose]();
  expect((await again).outcomes).toEqual({ 'lost: aborted': 1 });
  expect([clock.sleeping, seen.abandoned]).toEqual([0, 1]);
});

import { describe, expect, it } from '@jest/globals';
import { Interrupted } from '../failure.js';
import { PlaneAway } from '../plane/plane.js';
import type { TransportAnswer } from '../plane/transport.js';
import { awaitLogin } from './await-login.js';

const granted: TransportAnswer = { status: 200, body: { access_token: 'rco_1' } };
const told = (error: string, status = 400): TransportAnswer => ({ status, body: { error } });

/** Waits with these answers; `interruptAt`: Ctrl-C comes while this answer is on its way. */
const waited = async (answers: readonly (TransportAnswer | PlaneAway)[], interruptAt = -1) => {
  const interruption = new AbortController();
  const waits: number[] = [];
  const ended: string[] = [];
  let asked = 0;
  const outcome = await awaitLogin({
    login: { expires_in: 600, interval: 5 },
    address: 'https://plane',
    surroundings: {
      signal: interruption.signal,
      pause: (milliseconds, signal) => {
        waits.push(milliseconds);
        return signal.aborted ? Promise.reject(new Error('aborted')) : Promise.resolve();
      },
    },
    ask: () => {
      if (asked === interruptAt) interruption.abort();
      const answer = answers[Math.min(asked, answers.length - 1)]!;
      asked += 1;
      return answer instanceof PlaneAway ? Promise.reject(answer) : Promise.resolve(answer);
    },
    giveBack: (session) => {
      ended.push(session);
      return Promise.resolve();
    },
  }).catch((error: unknown) => error);
  return { outcome, waits, ended };
};

describe('waiting for a person who approves a login (RFC 8628)', () => {
  it('asks at the interval, five seconds more slowly for good after slow_down, and twice as slowly while nobody answers', async () => {
    const pending = told('authorization_pending');
    const { outcome, waits } = await waited([
      pending,
      told('slow_down'),
      pending,
      new PlaneAway('away'),
      pending,
      granted,
    ]);
    expect(outcome).toEqual(granted.body);
    expect(waits).toEqual([5_000, 5_000, 10_000, 10_000, 20_000, 20_000]);
    expect((await waited(Array<TransportAnswer>(20).fill(told('slow_down')).concat(granted))).waits.at(-1)).toBe(
      60_000,
    );
  });

  it('waits as long as a plane asks for that cannot answer now', async () => {
    const busy = { ...told('temporarily_unavailable', 503), retryAfter: 30 };
    expect((await waited([busy, granted])).waits).toEqual([5_000, 30_000]);
  });

  it.each([
    ['access_denied', 'refused'],
    ['expired_token', 'Nobody approved'],
    ['invalid_request', 'not as a plane does'],
  ])('ends in one sentence at %s', async (error, words) =>
    expect((await waited([told(error)])).outcome).toHaveProperty('message', expect.stringContaining(words)),
  );

  it('ends some time after the code is over, if nobody says so', async () => {
    expect((await waited([told('authorization_pending')])).outcome).toMatchObject({ exitCode: 3 });
    expect((await waited([new PlaneAway('away')])).outcome).toBeInstanceOf(PlaneAway);
  });

  it('gives back at Ctrl-C the session that was answered at that moment', async () => {
    const { outcome, ended } = await waited([granted], 0);
    expect(outcome).toBeInstanceOf(Interrupted);
    expect(ended).toEqual(['rco_1']);
    const early = await waited([told('authorization_pending'), granted], 0);
    expect([early.outcome, early.ended]).toEqual([expect.any(Interrupted), []]);
  });
});

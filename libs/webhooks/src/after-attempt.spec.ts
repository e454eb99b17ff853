import { describe, expect, it } from '@jest/globals';
import { afterAttempt, FAILURES_UNTIL_PAUSE, type BeforeAttempt } from './after-attempt.js';
import type { Attempt, Outcome } from './outcome.js';

const well = { failures: 0, pauseReason: null, pausedForSeconds: 0 } as const;
const after = (attempt: Outcome | Attempt, before: Partial<BeforeAttempt> = {}) =>
  afterAttempt(
    typeof attempt === 'string' ? { outcome: attempt, status: null, retryAfter: null } : attempt,
    { attempts: 0, isProbe: false, endpoint: well, ...before },
    0.5,
  );
const failing = { failures: 7, pauseReason: 'failing', pausedForSeconds: 240 } as const;
const unchanged = { pause: null, resume: false, probeIn: null };

describe('a delivery', () => {
  it('is done once it is received, and its endpoint is well', () =>
    expect(after('delivered', { attempts: 3, endpoint: { ...well, failures: 4 } })).toEqual({
      delivery: { state: 'delivered', attempts: 4, retryIn: null },
      endpoint: { failures: 0, ...unchanged },
    }));

  it('waits for its next attempt, and has failed after the tenth (I17)', () => {
    expect(after('refused').delivery).toEqual({ state: 'waiting', attempts: 1, retryIn: 5 });
    expect(after('timed-out', { attempts: 8 }).delivery).toEqual({ state: 'waiting', attempts: 9, retryIn: 86_400 });
    expect(after('refused', { attempts: 9 }).delivery).toEqual({ state: 'failed', attempts: 10, retryIn: null });
  });

  it('waits longer where the receiver asks for it, and never less than the schedule says', () => {
    const throttled = (retryAfter: number) => after({ outcome: 'throttled', status: 429, retryAfter }).delivery.retryIn;
    expect([throttled(0), throttled(90)]).toEqual([5, 90]);
  });
});

describe('an endpoint', () => {
  it('is paused after five failures in a row, and looked after a minute later', () => {
    const nth = (failures: number) => after('refused', { endpoint: { ...well, failures } }).endpoint;
    expect(nth(FAILURES_UNTIL_PAUSE - 2)).toEqual({ failures: 4, ...unchanged });
    expect(nth(FAILURES_UNTIL_PAUSE - 1)).toEqual({ failures: 5, pause: 'failing', resume: false, probeIn: 60 });
  });

  it('is paused at once when it says that it is gone, and nobody looks after it', () => {
    expect(after('gone').endpoint).toEqual({ failures: 1, pause: 'gone', resume: false, probeIn: null });
    expect(after('gone', { isProbe: true, endpoint: failing }).endpoint).toMatchObject({
      pause: 'gone',
      probeIn: null,
    });
  });

  it('is not paused again by what was under way; the look that follows is the one that is planned', () =>
    expect(after('refused', { endpoint: failing }).endpoint).toEqual({ failures: 8, ...unchanged }));

  it('is looked after again, ever more rarely, while a probe fails; that takes no attempt from the delivery', () => {
    const probed = after('not-connected', { attempts: 2, isProbe: true, endpoint: failing });
    expect(probed.endpoint).toEqual({ failures: 8, pause: null, resume: false, probeIn: 240 });
    expect(probed.delivery).toEqual({ state: 'waiting', attempts: 2, retryIn: null });
  });

  it('goes on when something is received, if failures have paused it and not a person or its own word', () => {
    const resumes = (pauseReason: 'failing' | 'gone' | 'person') =>
      after('delivered', { isProbe: pauseReason === 'failing', endpoint: { ...failing, pauseReason } }).endpoint.resume;
    expect([resumes('failing'), resumes('gone'), resumes('person')]).toEqual([true, false, false]);
  });

  it('stays as a person wants it, whatever it says', () => {
    const paused = { ...failing, pauseReason: 'person' } as const;
    expect(after('gone', { endpoint: paused }).endpoint.pause).toBeNull();
    expect(after('refused', { endpoint: paused }).endpoint.pause).toBeNull();
  });
});

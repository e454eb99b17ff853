import { describe, expect, it } from '@jest/globals';
import { specFor } from '@rollcall/decider/testing';
import { afterStart, type Starts } from './bounded-starts.js';
import type { LoginApproved, LoginEvent, LoginRequested } from './login-facts.js';
import { login, loginIdOf, loginStream, type RequestLogin } from './login.js';
import { userCodeKey } from './commands.js';
import { isOpen } from './short-code.js';

const given = specFor(login);
const NOW = Date.UTC(2026, 0, 1, 12);
const END = NOW + 600_000;
const request: RequestLogin = {
  type: 'RequestLogin',
  userCodeHash: 'u1',
  deviceCodeHash: 'd1',
  claims: { client: 'rollcall', device: 'desk', platform: 'linux' },
};
const requested: LoginRequested = { ...request, type: 'LoginRequested', expiresAt: '2026-01-01T12:10:00.000Z' };
const approve = { type: 'ApproveLogin', person: 'p1', authenticatedAt: '2026-01-01T11:55:00.000Z' } as const;
const approved: LoginApproved = { ...approve, type: 'LoginApproved' };
const refused = { type: 'LoginRefused' } as const;
const pickUp = { type: 'PickUpLogin' } as const;
const pickedUp = { type: 'LoginPickedUp' } as const;

describe('a login with a short code', () => {
  it('is asked for once, lives ten minutes, and its codes are never those of an installation (O12)', () => {
    given().when(request, { now: NOW }).then(requested);
    given(requested).when(request, { now: NOW }).thenRefused('code-refused', {});
    const keys = login.claims?.(requested).map(({ key }) => key);
    expect(keys).toEqual(['login-user-code:u1', 'login-device-code:d1']);
    expect(keys).not.toContain(userCodeKey('u1'));
    expect(login.claims?.(approved)).toEqual([]);
    expect(loginIdOf(loginStream('0192-1'))).toBe('0192-1');
  });

  it('is answered once, by one person, and the same answer again is no other', () => {
    given(requested)
      .when(approve, { now: END - 1 })
      .then(approved);
    given(requested).when({ type: 'RefuseLogin' }, { now: NOW }).then(refused);
    given(requested, approved).when(approve, { now: NOW }).thenNothing();
    given(requested, refused).when({ type: 'RefuseLogin' }, { now: NOW }).thenNothing();
  });

  it('is picked up once, by nobody before it was approved, and not after its end', () => {
    given(requested, approved).when(pickUp, { now: NOW }).then(pickedUp);
    for (const past of [[], [requested], [requested, refused], [requested, approved, pickedUp]])
      given(...past)
        .when(pickUp, { now: NOW })
        .thenRefused('code-refused', {});
    given(requested, approved).when(pickUp, { now: END }).thenRefused('code-refused', {});
  });

  it.each<[string, readonly LoginEvent[], number, object]>([
    ['unknown', [], NOW, approve],
    ['expired', [requested], END, approve],
    ['refused', [requested, refused], NOW, approve],
    ['approved by somebody else', [requested, approved], NOW, { ...approve, person: 'p2' }],
    ['picked up', [requested, approved, pickedUp], NOW, approve],
    ['approved, and now to be refused', [requested, approved], NOW, { type: 'RefuseLogin' }],
  ])('has one face where it is %s (C08)', (_, past, now, command) =>
    given(...past)
      .when(command as typeof approve, { now })
      .thenRefused('code-refused', {}),
  );

  it('knows who approved it and how fresh they were, and is not changed by a fact of an unknown type', () => {
    const state = [requested, approved].reduce<ReturnType<typeof login.initial>>(login.evolve, login.initial());
    expect(state?.answer).toEqual({ person: 'p1', authenticatedAt: approve.authenticatedAt });
    expect(isOpen(state, NOW)).toBe(false);
    expect(login.evolve(state, { type: 'LoginPolished' } as unknown as LoginEvent)).toBe(state);
  });
});

it('lets a hundred logins begin at once, then one in three seconds, so that never more than 300 codes live', () => {
  let starts: Starts | null = null;
  const begun = (now: number): boolean => {
    const after = afterStart(starts, now);
    starts = after.starts;
    return after.wait === 0;
  };
  expect(Array.from({ length: 150 }, () => begun(0)).filter(Boolean)).toHaveLength(100);
  expect(afterStart(starts, 0).wait).toBe(3_000);
  expect([begun(2_999), begun(3_000), begun(3_000)]).toEqual([false, true, false]);
  let later = 0;
  for (let now = 3_001; now < 600_000; now += 500) if (begun(now)) later += 1;
  expect(later).toBeLessThanOrEqual(199);
});

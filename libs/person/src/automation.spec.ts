import { describe, expect, it } from '@jest/globals';
import { specFor } from '@rollcall/decider/testing';
import {
  automation,
  automationOwnerOf,
  automationStream,
  liveToken,
  liveTokens,
  MOST_AUTOMATION_TOKENS,
  type IssueAutomationToken,
} from './automation.js';
import type { AutomationTokenIssued } from './automation-facts.js';

const given = specFor(automation);
const NOW = Date.UTC(2026, 0, 1, 12);

const issue = (over: Partial<IssueAutomationToken> = {}): IssueAutomationToken => ({
  type: 'IssueAutomationToken',
  tokenId: 't1',
  tokenHash: 'h1',
  name: 'grafana',
  scopes: ['presence:read'],
  expiresIn: 3_600,
  ...over,
});
const issued = (n = 1, over: Partial<AutomationTokenIssued> = {}): AutomationTokenIssued => ({
  type: 'AutomationTokenIssued',
  tokenId: `t${n}`,
  tokenHash: `h${n}`,
  name: 'grafana',
  scopes: ['presence:read'],
  issuedAt: '2026-01-01T12:00:00.000Z',
  expiresAt: '2026-01-01T13:00:00.000Z',
  ...over,
});
const revoked = (n = 1) => ({ type: 'AutomationTokenRevoked', tokenId: `t${n}`, tokenHash: `h${n}` }) as const;
const revoke = (tokenId = 't1') => ({ type: 'RevokeAutomationToken', tokenId }) as const;
const stateAfter = (...facts: Parameters<typeof automation.evolve>[1][]) =>
  facts.reduce(automation.evolve, automation.initial());

describe('an automation token', () => {
  it('is issued with scopes, each once, and an end (O3)', () =>
    given()
      .when(issue({ scopes: ['webhooks:manage', 'presence:read', 'presence:read'] }), { now: NOW })
      .then(issued(1, { scopes: ['presence:read', 'webhooks:manage'] })));

  it.each([
    ['scopes', { scopes: [] }],
    ['scopes', { scopes: ['presence:read', 'machines:admit'] }],
    ['expiresIn', { expiresIn: 59 }],
    ['expiresIn', { expiresIn: 90 * 86_400 + 1 }],
    ['expiresIn', { expiresIn: 60.5 }],
  ])('is refused with other scopes than those of the list, or for longer than 90 days (%s, O3)', (field, over) =>
    given()
      .when(issue(over), { now: NOW })
      .thenRefused('invalid-body', { errors: [{ field, message: expect.any(String) as unknown as string }] }),
  );

  it('lives 90 days at most', () => {
    const longest = issue({ expiresIn: 90 * 86_400 });
    given()
      .when(longest, { now: NOW })
      .then(issued(1, { expiresAt: '2026-04-01T12:00:00.000Z' }));
  });

  it('is issued once: a repetition is the first one again, another secret under its id is refused', () => {
    given(issued()).when(issue()).thenNothing();
    given(issued())
      .when(issue({ tokenHash: 'h2' }))
      .thenRefused('invalid-body');
    given(issued())
      .when(issue({ tokenId: 't2' }))
      .thenRefused('invalid-body');
  });

  it('is one of fifty that can be used; those that have expired do not count, and are forgotten', () => {
    const many = Array.from({ length: MOST_AUTOMATION_TOKENS }, (_, n) => issued(n + 10));
    given(...many)
      .when(issue(), { now: NOW })
      .thenRefused('too-many-automation-tokens');
    given(...many)
      .when(issue(), { now: NOW + 3_600_000 })
      .thenState({ tokens: [expect.objectContaining({ tokenId: 't1' })] });
    given(...many.slice(1))
      .when(issue(), { now: NOW })
      .then(issued());
  });

  it('is valid until it expires or is revoked', () => {
    const state = stateAfter(issued(1), issued(2));
    expect(liveToken(state, 'h2', NOW + 3_599_999)?.tokenId).toBe('t2');
    expect(liveToken(state, 'h2', NOW + 3_600_000)).toBeNull();
    expect(liveToken(state, 'h3', NOW)).toBeNull();
    const left = automation.evolve(state, revoked(1));
    expect(liveToken(left, 'h1', NOW)).toBeNull();
    expect(liveTokens(left, NOW).map(({ tokenId }) => tokenId)).toEqual(['t2']);
    expect(liveTokens(left, NOW + 3_600_000)).toEqual([]);
  });

  it('is revoked once; one that is not there is not found', () => {
    given(issued(1), issued(2)).when(revoke()).then(revoked());
    given(issued(), revoked()).when(revoke()).thenRefused('automation-token-not-found');
  });

  it('keeps the keys of its hash and its id for good, so that nobody else registers it or acts under its name', () => {
    expect(automation.claims?.(issued())).toEqual([
      { op: 'take', key: 'automation-token:h1' },
      { op: 'take', key: 'automation-id:t1' },
    ]);
    expect(automation.claims?.(revoked())).toEqual([]);
  });

  it('stands on the stream of its owner', () => expect(automationOwnerOf(automationStream('p1'))).toBe('p1'));

  it('is not changed by a fact of an unknown type', () => {
    const state = stateAfter(issued());
    expect(automation.evolve(state, { type: 'AutomationTokenSang' } as never)).toBe(state);
  });
});

import { describe, expect, it } from '@jest/globals';
import { specFor } from '@rollcall/decider/testing';
import type { IssueToken } from './commands.js';
import type { TokenIssued } from './facts.js';
import { issuedToken, token } from './token.js';

const given = specFor(token);

const NOW = Date.UTC(2026, 0, 1, 12);
const issue = (over: Partial<IssueToken> = {}): IssueToken => ({
  type: 'IssueToken',
  tokenHash: 'h1',
  owner: 'person-1',
  name: null,
  expiresIn: 900,
  ...over,
});
const issued = (over: Partial<TokenIssued> = {}): TokenIssued => ({
  type: 'TokenIssued',
  tokenHash: 'h1',
  expiresAt: '2026-01-01T12:15:00.000Z',
  owner: 'person-1',
  name: null,
  ...over,
});

describe('an enrolment token (N20)', () => {
  it('is issued with a time of expiry, for its owner', () => {
    given().when(issue(), { now: NOW }).then(issued());
    given()
      .when(issue({ name: 'lab-1' }), { now: NOW })
      .then(issued({ name: 'lab-1' }));
  });

  it('may be for a node, which gets its next machine with it (N19)', () => {
    given()
      .when(issue({ node: 'node-1' }), { now: NOW })
      .then(issued({ node: 'node-1' }));
    const state = token.evolve(token.initial(), issued({ node: 'node-1' }));
    expect(issuedToken('token-1', state)?.node).toBe('node-1');
  });

  it('may be the credential of the machine to come, and is shown as that to the rule that admits it (O3)', () => {
    given()
      .when(issue({ preadmits: true }), { now: NOW })
      .then(issued({ preadmits: true }));
    const state = token.evolve(token.initial(), issued({ preadmits: true }));
    expect(issuedToken('token-1', state)?.via).toBe('preadmission');
  });

  it('says in which session it was issued, so that its age can be told from the record (O3)', () =>
    given()
      .when(issue({ session: 'session-1' }), { now: NOW })
      .then(issued({ session: 'session-1' })));

  it('lives from a minute to a day', () => {
    given()
      .when(issue({ expiresIn: 60 }), { now: NOW })
      .then(issued({ expiresAt: '2026-01-01T12:01:00.000Z' }));
    given()
      .when(issue({ expiresIn: 86_400 }), { now: NOW })
      .then(issued({ expiresAt: '2026-01-02T12:00:00.000Z' }));
  });

  it.each([59, 86_401, 0, -900, 900.5, Number.NaN, Number.POSITIVE_INFINITY])(
    'refuses a life of %d seconds',
    (expiresIn) =>
      given()
        .when(issue({ expiresIn }))
        .thenRefused('invalid-body', {
          errors: [{ field: 'expiresIn', message: 'must be a whole number of seconds from 60 to 86400' }],
        }),
  );

  it('is issued once: the same secret again is the same token, another one is refused', () => {
    given(issued())
      .when(issue({ expiresIn: 60 }))
      .thenNothing();
    given(issued())
      .when(issue({ tokenHash: 'h2' }))
      .thenRefused('token-refused', {});
  });

  it('can be withdrawn: nobody is admitted with it then, and it takes the key of its redemption, so that one of the two is recorded', () => {
    const withdraw = { type: 'WithdrawToken', token: 'token-1' } as const;
    const withdrawn = { type: 'TokenWithdrawn', token: 'token-1' } as const;
    given(issued()).when(withdraw).then(withdrawn);
    given(issued(), withdrawn).when(withdraw).thenNothing();
    given().when(withdraw).thenRefused('token-not-found', {});
    expect(token.claims?.(withdrawn)).toEqual([{ op: 'take', key: 'redemption:token-1' }]);
    const state = token.evolve(token.evolve(token.initial(), issued()), withdrawn);
    expect(issuedToken('token-1', state)).toBeNull();
    expect(token.evolve(token.initial(), withdrawn)).toBeNull();
  });

  it('takes the key of its hash, so a secret is registered once', () => {
    expect(token.claims?.(issued())).toEqual([{ op: 'take', key: 'enrolment-token:h1' }]);
  });

  it('is shown to the rule that admits a machine with its expiry as an instant', () => {
    const state = token.evolve(token.initial(), issued({ name: 'lab-1' }));
    expect(issuedToken('token-1', state)).toEqual({
      id: 'token-1',
      expiresAt: NOW + 900_000,
      owner: 'person-1',
      name: 'lab-1',
      node: null,
    });
    expect(issuedToken('token-1', token.initial())).toBeNull();
  });

  it('is not changed by a fact of an unknown type, which claims nothing', () => {
    const unknown = { ...issued({ tokenHash: 'h2' }), type: 'TokenPolished' } as unknown as TokenIssued;
    const state = token.evolve(token.initial(), issued());
    expect(token.evolve(state, unknown)).toBe(state);
    expect(token.claims?.(unknown)).toEqual([]);
  });
});

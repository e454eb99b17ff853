import { describe, expect, it } from '@jest/globals';
import { specFor } from '@rollcall/decider/testing';
import { code } from './code.js';
import type { RequestCode } from './commands.js';
import type { CodeApproved, CodeEvent, CodeRequested } from './facts.js';
import { isOpen, readUserCode, userCodeOf } from './short-code.js';
import { afterWrong, lockedFor, withoutWrong, type WrongCodes } from './wrong-codes.js';

const given = specFor(code);
const NOW = Date.UTC(2026, 0, 1, 12);
const END = NOW + 600_000;
const request: RequestCode = {
  type: 'RequestCode',
  userCodeHash: 'u1',
  deviceCodeHash: 'd1',
  identifierHash: 'i1',
  keyHash: 'k1',
  report: { hostname: 'forge', agentVersion: null, platform: 'linux', arch: null },
};
const requested: CodeRequested = { ...request, type: 'CodeRequested', expiresAt: '2026-01-01T12:10:00.000Z' };
const approved: CodeApproved = { type: 'CodeApproved', owner: 'person-1', name: null };
const refused = { type: 'CodeRefused' } as const;
const refuse = { type: 'RefuseCode', code: 'code-1', by: 'person-1' } as const;
const approve = { type: 'ApproveCode', owner: 'person-1', name: null } as const;

describe('a short code (O12)', () => {
  it('is asked for with what it lets in, lives ten minutes, and takes the keys of both codes', () => {
    given().when(request, { now: NOW }).then(requested);
    expect(code.claims?.(requested)).toEqual([
      { op: 'take', key: 'user-code:u1' },
      { op: 'take', key: 'device-code:d1' },
    ]);
    given(requested).when(request, { now: NOW }).thenRefused('code-refused', {});
  });

  it('is answered once, by one person, and the same answer again is no other', () => {
    given(requested)
      .when(approve, { now: END - 1 })
      .then(approved);
    given(requested).when(refuse, { now: NOW }).then(refused);
    given(requested, approved).when(approve, { now: NOW }).thenNothing();
    given(requested, refused).when(refuse, { now: NOW }).thenNothing();
  });

  it('says in which session it was approved, so that its age can be told from the record (O3)', () =>
    given(requested)
      .when({ ...approve, session: 'session-1' }, { now: NOW })
      .then({ ...approved, session: 'session-1' }));

  it('may be approved for a node, which gets its next machine by it, and then once only: the node has that machine by then (N19)', () => {
    const forNode = { ...approve, node: 'node-1' };
    given(requested)
      .when(forNode, { now: NOW })
      .then({ ...approved, node: 'node-1' });
    given(requested, { ...approved, node: 'node-1' })
      .when(forNode, { now: NOW })
      .thenRefused('code-refused', {});
    given(requested, approved).when(forNode, { now: NOW }).thenRefused('code-refused', {});
    const state = code.evolve(code.evolve(code.initial(), requested), { ...approved, node: 'node-1' });
    expect(state?.answer).toEqual({ approvedBy: 'person-1', name: null, node: 'node-1' });
  });

  it.each<[string, readonly CodeEvent[], number, object]>([
    ['unknown', [], NOW, approve],
    ['expired', [requested], END, approve],
    ['expired after its approval', [requested, approved], END, approve],
    ['refused', [requested, refused], NOW, approve],
    ['approved by somebody else', [requested, approved], NOW, { ...approve, owner: 'person-2' }],
    ['approved, and now to be refused by another', [requested, approved], NOW, { ...refuse, by: 'person-2' }],
  ])('has one face where it is %s (C08)', (_, past, now, command) =>
    given(...past)
      .when(command as typeof approve, { now })
      .thenRefused('code-refused', {}),
  );

  it('can be refused after all by whoever approved it, which takes the key of its pickup, so that one of the two is recorded', () => {
    const withdrawn = { type: 'CodeRefused', withdrawn: 'code-1' } as const;
    given(requested, approved).when(refuse, { now: NOW }).then(withdrawn);
    expect(code.claims?.(withdrawn)).toEqual([{ op: 'take', key: 'redemption:code-1' }]);
    expect(code.claims?.(refused)).toEqual([]);
    const state = [requested, approved, withdrawn].reduce(code.evolve, code.initial());
    expect(state?.answer).toBe('refused');
    given(requested, approved, withdrawn).when(refuse, { now: NOW }).thenNothing();
    given(requested, approved, withdrawn).when(approve, { now: NOW }).thenRefused('code-refused', {});
  });

  it('gives way to another admission of its node, and that refuses no other code', () => {
    const withdraw = { ...refuse, type: 'WithdrawApproval' } as const;
    given(requested, approved).when(withdraw, { now: END }).then({ type: 'CodeRefused', withdrawn: 'code-1' });
    for (const past of [[], [requested], [requested, refused]])
      given(...past)
        .when(withdraw, { now: NOW })
        .thenNothing();
  });

  it('can be answered until it is answered or over', () => {
    const state = code.evolve(code.initial(), requested);
    expect([isOpen(state, END - 1), isOpen(state, END), isOpen(null, NOW)]).toEqual([true, false, false]);
    expect(isOpen(code.evolve(state, approved), NOW)).toBe(false);
    expect(code.evolve(state, { type: 'CodePolished' } as unknown as CodeEvent)).toBe(state);
  });

  it('is written in consonants with a dash, and read in any case and without it', () => {
    expect(userCodeOf([0, 1, 2, 3, 4, 5, 6, 19])).toBe('BCDF-GHJZ');
    expect(['bcdf-ghjz', 'BCDFGHJZ', ' bcdf ghjz '].map(readUserCode)).toEqual(Array(3).fill('BCDF-GHJZ'));
    expect(['BCDF-GHJ', 'BCDF-GHJA', 'BCDF-GHJ1', 'BCDF-GHJZB', ''].map(readUserCode)).toEqual(Array(5).fill(null));
  });
});

describe('wrong codes of one session (C08)', () => {
  const typed = (...times: readonly number[]): WrongCodes => times.reduce<WrongCodes>(afterWrong, []);

  it('are looked at five times a minute, and then for a minute none is', () => {
    expect(lockedFor(typed(0, 1, 2, 3), 4)).toBe(0);
    expect(lockedFor(typed(0, 1, 2, 3, 4), 4)).toBe(60_000);
    expect(lockedFor(typed(0, 1, 2, 3, 4), 60_004)).toBe(0);
    expect(lockedFor(typed(0, 1, 2, 3, 60_000), 60_000)).toBe(0);
  });

  it('are forgotten again where one was right after all', () => {
    expect(withoutWrong(typed(1, 2, 3), 2)).toEqual([1, 3]);
    expect(withoutWrong(typed(1, 2, 3), 4)).toEqual([1, 2, 3]);
  });

  it('are looked at ten times in ten minutes, and then for ten minutes none is', () => {
    const slowly = Array.from({ length: 10 }, (_, index) => index * 30_000);
    expect(lockedFor(typed(...slowly.slice(0, 9)), 240_000)).toBe(0);
    expect(lockedFor(typed(...slowly), 270_000)).toBe(600_000);
    expect(lockedFor(typed(...slowly), 870_000)).toBe(0);
  });
});

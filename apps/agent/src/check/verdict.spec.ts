import { describe, expect, it } from '@jest/globals';
import { LIMITS } from '@rollcall/check-schedule';
import { PROBLEMS, type ProblemCode } from '@rollcall/wire';
import { accepted, answered, refused } from '../testing/in-memory-plane.js';
import { courseFrom, reactTo, type Next } from './reaction.js';
import { verdictOn } from './verdict.js';

const react = (code: ProblemCode, hasOtherKey = false) =>
  reactTo(verdictOn(refused(code), 0), courseFrom(30_000), { chance: () => 0.5, limits: LIMITS, hasOtherKey });

describe('an answer', () => {
  it.each([
    ['the page of a portal', answered(200, '<html>', 'text/html')],
    ['JSON that is no check answer', answered(200, '{"ok":true}')],
    ['a check answer of another type', { ...accepted(), mediaType: 'text/html' }],
    ['a check answer with another status', { ...accepted(), status: 201 }],
    ['a bare 410', answered(410, '')],
    ['our code without our media type', answered(410, '{"code":"credential-revoked"}')],
    ['our media type without a code of ours', answered(410, '{"code":"gone"}', 'application/problem+json')],
    ['a name that every object has', answered(410, '{"code":"constructor"}', 'application/problem+json')],
    [
      'a problem document that is a success',
      answered(200, '{"code":"credential-revoked"}', 'application/problem+json'),
    ],
    ['a 404', answered(404, 'nothing', 'text/plain')],
    ['a redirect', answered(302, '')],
    ['half a document', answered(401, '{"code":"credential-un', 'application/problem+json')],
  ])('that is %s is not ours (O20)', (_, answer) => expect(verdictOn(answer, 0).kind).toBe('not-ours'));

  it.each([[undefined], [null], ['abc'], [-5]])('is still a success with the interval %p (C10)', (interval) =>
    expect(verdictOn(accepted({ interval }), 0).kind).toBe('accepted'),
  );
});

describe('a refusal', () => {
  it.each<[ProblemCode, number | null]>([
    ['slow-down', 40_000],
    ['unavailable', 40_000],
    ['credential-unknown', null],
    ['internal', null],
  ])('%s with Retry-After: 40 asks for %p ms: only 429 and 503 may (C16)', (code, retryAfter) =>
    expect(verdictOn(refused(code, {}, { 'retry-after': ['40'] }), 0)).toMatchObject({ kind: 'refused', retryAfter }),
  );

  it.each<[ProblemCode, Next, number]>([
    ['credential-revoked', 'halt', 0],
    ['generation-behind', 'repeat', 30_000],
    ['credential-unknown', 'repeat', 60_000],
    ['stale-check', 'take-boot', 0],
    ['invalid-body', 'minimal', 30_000],
    ['too-large', 'minimal', 30_000],
    ['unsupported-type', 'minimal', 30_000],
    ['slow-down', 'repeat', 30_000],
    ['unavailable', 'repeat', 30_000],
    ['internal', 'repeat', 30_000],
    ['token-refused', 'repeat', 30_000],
  ])('%s leads to "%s" after %d ms (O20, C11, C16)', (code, next, wait) =>
    expect(react(code)).toMatchObject({ next, wait }),
  );

  it.each<[ProblemCode]>([['credential-unknown'], ['generation-behind']])(
    '%s makes a machine with another credential try that (C04)',
    (code) => expect(react(code, true).next).toBe('other-key'),
  );

  it('only ever stops the checks when the machine was deleted (O20)', () => {
    const codes = Object.keys(PROBLEMS) as ProblemCode[];
    expect(codes.filter((code) => react(code).next === 'halt')).toEqual(['credential-revoked']);
  });
});

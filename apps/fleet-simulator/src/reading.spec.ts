import { expect, it } from '@jest/globals';
import { TransportError, type HttpAnswer } from '@rollcall/pinned-https';
import type { CheckAnswer } from '@rollcall/wire';
import { passes, readAnswer, readFailure } from './reading.js';

const answer = (
  status: number,
  body: unknown,
  { mediaType = 'application/json', retryAfter = [] as string[] } = {},
): HttpAnswer => ({
  status,
  mediaType,
  header: (name) => (name === 'retry-after' ? retryAfter : []),
  body: typeof body === 'string' ? body : JSON.stringify(body),
  pin: null,
});
const read = (given: HttpAnswer) => readAnswer<CheckAnswer>(given, ({ chain }) => typeof chain === 'string');
const problem = { mediaType: 'application/problem+json' };

it('takes a check answer for a success, and a problem document of the closed list for a refusal', () => {
  expect(read(answer(200, { chain: 'c' }))).toMatchObject({ outcome: { kind: 'accepted' }, counted: 'accepted' });
  expect(read(answer(409, { code: 'stale-check', highestBoot: 4 }, problem))).toMatchObject({
    outcome: { kind: 'refused', code: 'stale-check', highestBoot: 4 },
    counted: 'refused: stale-check',
  });
  expect(read(answer(503, { code: 'unavailable' }, { ...problem, retryAfter: ['7'] }))).toMatchObject({
    outcome: { kind: 'refused', code: 'unavailable' },
    retryAfter: 7_000,
  });
});

it.each([
  answer(200, '<html>'),
  answer(200, { chain: 'c' }, { mediaType: 'text/html' }),
  answer(200, {}),
  answer(410, {}),
  answer(401, { code: 'credential-revoked' }),
  answer(401, { code: 'from-the-future' }, problem),
])('takes anything else for nobody’s answer, which changes nothing (O20)', (given) => {
  const reading = read(given);
  expect(reading.outcome).toEqual({ kind: 'unanswered' });
  expect(reading.counted).toBe(`not from the plane: status ${given.status}`);
  expect(passes(reading)).toBe(true);
});

it('knows what may succeed later, and a fault of its own from one of the network', () => {
  const refused = (code: string) => passes(read(answer(503, { code }, problem)));
  expect([refused('unavailable'), refused('slow-down'), refused('token-refused')]).toEqual([true, true, false]);
  expect(readFailure(new TransportError('unreachable', 'no')).counted).toBe('lost: unreachable');
  expect(() => readFailure(new TypeError('a fault'))).toThrow('a fault');
});

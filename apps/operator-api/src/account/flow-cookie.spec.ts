import { expect, it } from '@jest/globals';
import { parseSetCookie } from 'cookie';
import { flowCookie, pathOf, underWayIn } from './flow-cookie.js';

const underWay = { state: 's', nonce: 'n', verifier: 'v', returnTo: '/device', linksTo: null };

it('keeps what is under way in the browser that began it, where no script reads it, for ten minutes', () => {
  const cookie = parseSetCookie(flowCookie(underWay));
  expect(cookie).toMatchObject({ httpOnly: true, secure: true, sameSite: 'lax', path: '/', maxAge: 600 });
  expect(cookie.name).toMatch(/^__Host-/);
  expect(underWayIn(`a=b; ${cookie.name}=${cookie.value}`)).toEqual(underWay);
  expect(parseSetCookie(flowCookie(null))).toMatchObject({ value: '', maxAge: 0 });
});

it('takes what does not read as one for none', () => {
  const { name } = parseSetCookie(flowCookie(underWay));
  const written = (value: unknown) => `${name}=${Buffer.from(JSON.stringify(value)).toString('base64url')}`;
  for (const cookies of [
    undefined,
    '',
    'a=b',
    `${name}=`,
    `${name}=!`,
    written(null),
    written({ ...underWay, state: 1 }),
  ])
    expect(underWayIn(cookies)).toBeNull();
});

it('goes back to a path of our own page only', () => {
  expect(['/', '/device', '/machines/0192-ab'].map(pathOf)).toEqual(['/', '/device', '/machines/0192-ab']);
  for (const other of ['//evil.example', '/\\evil.example', 'https://evil.example', '/a?b', '/a#b', '/../x', '', null])
    expect([other, pathOf(other)]).toEqual([other, '/']);
});

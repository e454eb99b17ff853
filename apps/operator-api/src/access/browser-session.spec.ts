import { describe, expect, it } from '@jest/globals';
import { parseSetCookie } from 'cookie';
import { isByHand, sessionCookies, sessionOf, sessionReplacedBy } from './browser-session.js';

const cookies = sessionCookies({ secret: 'rco_1', expiresAt: '2026-01-01T12:00:00Z' }).map((text) =>
  parseSetCookie(text),
);
const cookie = cookies.map(({ name, value }) => `${name}=${value}`).join('; ');
const proof = cookies[1]?.value ?? '';
const host = 'plane.example:8444';
const ours = { host, cookie, origin: `https://${host}`, 'x-rollcall-proof': proof };

describe('a session in a browser', () => {
  it('is a cookie of this origin that no script reads, for as long as the session lasts', () => {
    expect(cookies).toEqual([
      expect.objectContaining({
        name: '__Host-rollcall-session',
        value: 'rco_1',
        httpOnly: true,
        secure: true,
        path: '/',
      }),
      expect.objectContaining({ name: '__Host-rollcall-proof', secure: true, path: '/', sameSite: 'strict' }),
    ]);
    expect(cookies.map(({ expires }) => expires)).toEqual([
      new Date('2026-01-01T12:00:00Z'),
      new Date('2026-01-01T12:00:00Z'),
    ]);
    expect(proof).not.toContain('rco_1');
  });

  it('is taken back by cookies that are over', () =>
    expect(sessionCookies(null).map((text) => parseSetCookie(text))).toEqual([
      expect.objectContaining({ value: '', maxAge: 0 }),
      expect.objectContaining({ value: '', maxAge: 0 }),
    ]));

  it('may read with the cookie alone, and change something only with what our own page knows', () => {
    expect(sessionOf({ method: 'GET', headers: { host, cookie } })).toBe('rco_1');
    expect(sessionOf({ method: 'POST', headers: ours })).toBe('rco_1');
    const { origin, 'x-rollcall-proof': _, ...rest } = ours;
    for (const headers of [
      rest,
      { ...rest, origin },
      { ...rest, 'x-rollcall-proof': proof },
      { ...ours, origin: 'https://evil.example' },
      { ...ours, origin: 'null' },
      { ...ours, 'x-rollcall-proof': 'guessed' },
    ])
      expect(() => sessionOf({ method: 'DELETE', headers })).toThrow('cross-site');
  });

  it('is used by what changes something and by what our page says that somebody touched, and not by a page that looks again by itself', () => {
    const used = [
      { method: 'POST', headers: ours },
      { method: 'GET', headers: { host, cookie, 'x-rollcall-by-hand': '1' } },
    ];
    expect(used.map(isByHand)).toEqual([true, true]);
    expect(isByHand({ method: 'GET', headers: { host, cookie } })).toBe(false);
  });

  it('is replaced by the next one that our own page begins, and by nobody else’s page', () => {
    expect(sessionReplacedBy({ method: 'POST', headers: ours })).toBe('rco_1');
    expect(sessionReplacedBy({ method: 'POST', headers: { ...ours, origin: 'https://evil.example' } })).toBeNull();
    expect(sessionReplacedBy({ method: 'POST', headers: { host } })).toBeNull();
  });

  it('stands behind a bearer that is given as well', () =>
    expect(sessionOf({ method: 'POST', headers: { cookie, authorization: 'Bearer rco_2' } })).toBe('rco_2'));

  it('is none without either', () => expect(sessionOf({ method: 'GET', headers: { cookie: 'a=b' } })).toBeNull());
});

import { describe, expect, it } from '@jest/globals';
import { decodeSignInLink, encodeSignInLink, makeSecret } from './index.js';

const secret = makeSecret('rcl');
const pin = Buffer.alloc(32, 7);

describe('a sign-in link', () => {
  it('reads where the plane is, the key to expect there, and the right to sign in once', () =>
    expect(decodeSignInLink(` https://127.0.0.1:8444/sign-in#${secret}.${pin.toString('base64url')}\n`)).toEqual({
      address: 'https://127.0.0.1:8444',
      pins: [`sha256/${pin.toString('base64')}`],
      secret,
    }));

  it('leaves the certificate to the system where the link has no pin', () =>
    expect(decodeSignInLink(`https://plane.example/sign-in#${secret}`)).toEqual({
      address: 'https://plane.example',
      pins: [],
      secret,
    }));

  it.each([[[]], [[`sha256/${Buffer.alloc(32, 255).toString('base64')}`]]])(
    'is read as it was written, with the pins %j',
    (pins) => {
      const link = { address: 'https://127.0.0.1:8444', pins, secret };
      expect(decodeSignInLink(encodeSignInLink(link))).toEqual(link);
    },
  );

  it.each([
    ['a word', 'hello'],
    ['http', `http://127.0.0.1/sign-in#${secret}`],
    ['another path', `https://127.0.0.1/other#${secret}`],
    ['a damaged secret', `https://127.0.0.1/sign-in#${secret.slice(0, -1)}`],
    ['a secret of another kind', `https://127.0.0.1/sign-in#${makeSecret('rce')}`],
    ['a damaged pin', `https://127.0.0.1/sign-in#${secret}.abc`],
    ['something behind the pin', `https://127.0.0.1/sign-in#${secret}.${pin.toString('base64url')}.x`],
  ])('refuses %s without repeating it', (_what, link) => {
    expect(() => decodeSignInLink(link)).toThrow(/sign-in link/);
    expect(() => decodeSignInLink(link)).not.toThrow(new RegExp(secret.slice(4, 20)));
  });
});

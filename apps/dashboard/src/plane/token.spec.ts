import { expect, it } from '@jest/globals';
import {
  decodeEnrolmentToken,
  encodeEnrolmentToken,
  hashOf as hashInNode,
  isSecret,
  type EnrolmentToken,
} from '@rollcall/wire';
import fc from 'fast-check';
import { encodeToken, hashOf, makeTokenSecret } from './token.js';

const bytes = fc.uint8Array({ minLength: 32, maxLength: 32 });

it('makes secrets and tokens in a browser that the plane and the agent read as their own (N3, N20)', () =>
  fc.assert(
    fc.asyncProperty(bytes, async (random) => {
      const secret = makeTokenSecret(random);
      expect(isSecret('rce', secret)).toBe(true);
      expect(await hashOf(secret)).toBe(hashInNode(secret));
      const token: EnrolmentToken = {
        address: 'https://plane.example:8443',
        pins: [`sha256/${Buffer.from(random).toString('base64')}`],
        secret,
      };
      expect(encodeToken(token)).toBe(encodeEnrolmentToken(token));
      expect(decodeEnrolmentToken(encodeToken(token))).toEqual(token);
    }),
  ));

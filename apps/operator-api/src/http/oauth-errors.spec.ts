import { expect, it } from '@jest/globals';
import { Refusal } from '@rollcall/decider';
import { oauthErrorOf } from './oauth-errors.js';

const wrong = (...fields: string[]) =>
  new Refusal('invalid-body', { errors: fields.map((field) => ({ field, message: 'no' })) });

it.each([
  [new Refusal('code-pending'), 400, 'authorization_pending'],
  [new Refusal('asked-too-soon'), 400, 'slow_down'],
  [new Refusal('access-denied'), 400, 'access_denied'],
  [new Refusal('code-refused'), 400, 'expired_token'],
  [new Refusal('slow-down'), 429, 'temporarily_unavailable'],
  [new Refusal('unavailable'), 503, 'temporarily_unavailable'],
  [wrong('grant_type'), 400, 'unsupported_grant_type'],
  [wrong('grant_type', 'device_code'), 400, 'invalid_request'],
])('is told in the words of OAuth: %s', (refusal, status, error) =>
  expect(oauthErrorOf(refusal)).toEqual({ status, error }),
);

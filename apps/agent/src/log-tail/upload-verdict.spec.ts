import { expect, it } from '@jest/globals';
import { accepted, answered, refused } from '../testing/in-memory-plane.js';
import { uploadVerdictOn } from './upload-verdict.js';

const STAMP = '2026-01-01T12:00:00.000Z';
const NOT_OURS = { kind: 'failed', code: 'not-ours' };

it('is received when the plane’s answer echoes the stamp (O26)', () =>
  expect(uploadVerdictOn(answered(200, JSON.stringify({ logTail: STAMP })), STAMP)).toEqual({ kind: 'received' }));

it('is not wanted when the plane waits for another request or none (O26)', () =>
  expect(uploadVerdictOn(refused('request-not-pending'), STAMP)).toEqual({ kind: 'not-wanted' }));

it.each(['unavailable', 'slow-down', 'too-large', 'credential-unknown', 'not-found'] as const)(
  'is tried again after %s (O26)',
  (code) => expect(uploadVerdictOn(refused(code), STAMP)).toEqual({ kind: 'failed', code }),
);

it.each([
  ['an echo of another stamp', answered(200, JSON.stringify({ logTail: 'x' }))],
  ['no echo', answered(200, '{}')],
  ['null', answered(200, 'null')],
  ['what is no JSON', answered(200, 'OK')],
  ['the answer to a check', accepted()],
  ['an echo of another status', answered(202, JSON.stringify({ logTail: STAMP }))],
  ['a portal’s page', answered(200, JSON.stringify({ logTail: STAMP }), 'text/html')],
  ['a refusal that is no problem document', answered(409, JSON.stringify({ code: 'request-not-pending' }))],
])('takes %s for none of ours, and is tried again (O20, O26)', (_what, answer) =>
  expect(uploadVerdictOn(answer, STAMP)).toEqual(NOT_OURS),
);

import { expect, it } from '@jest/globals';
import { HttpException } from '@nestjs/common';
import { Refusal } from '@rollcall/decider';
import { RecordUnavailable } from '@rollcall/event-store';
import { PROBLEMS, type ProblemCode } from '@rollcall/wire';
import { problemOf, problemOfRequest } from './problem-document.js';

it.each(Object.keys(PROBLEMS) as ProblemCode[])('answers the refusal %s with its own status and code', (code) => {
  const { problem, fault } = problemOf(new Refusal(code), 'r1');
  expect(problem).toEqual({ type: `urn:rollcall:problem:${code}`, ...PROBLEMS[code], code, requestId: 'r1' });
  expect(fault).toBe(false);
});

it('tells how long to wait with every 429 and 503, rounded up to whole seconds', () => {
  expect(problemOf(new Refusal('unavailable', { retryAfter: 1.2 })).headers).toEqual({ 'retry-after': '2' });
  expect(problemOf(new Refusal('slow-down')).headers['retry-after']).toMatch(/^[1-9]\d*$/);
  expect(problemOf(new Refusal('unavailable', { retryAfter: 3 })).problem).not.toHaveProperty('retryAfter');
});

it('names the way to authenticate with every 401', () => {
  expect(problemOf(new Refusal('credential-unknown')).headers).toEqual({ 'www-authenticate': 'Bearer' });
});

it('passes on what a rule tells beyond its code, but never lets it overwrite the code', () => {
  const { problem } = problemOf(new Refusal('stale-check', { highestBoot: 7, code: 'other', status: 200 }));
  expect(problem).toMatchObject({ highestBoot: 7, code: 'stale-check', status: 409 });
});

it.each([
  ['an unknown refusal', new Refusal('of-no-list')],
  ['a fault', new Error('password=hunter2')],
  ['a thrown text', 'boom'],
  ['an error that carries a status of its own', Object.assign(new Error('pg'), { statusCode: 404 })],
])('tells nothing about %s but that the plane failed', (_, error) => {
  const { problem, fault } = problemOf(error);
  expect(problem).toEqual({ type: 'urn:rollcall:problem:internal', ...PROBLEMS.internal, code: 'internal' });
  expect(fault).toBe(true);
});

it.each([
  ['a refused connection', Object.assign(new AggregateError([], 'connect'), { code: 'ECONNREFUSED' })],
  ['a server that shuts down', Object.assign(new Error('terminating connection'), { code: '57P01' })],
  ['a full disk', Object.assign(new Error('could not extend file'), { code: '53100' })],
  ['a connection that broke', new Error('Connection terminated unexpectedly')],
  ['a record that cannot be read', new RecordUnavailable('not now')],
  ['any of them as the cause', new Error('the read model', { cause: new Error('Query read timeout') })],
])('asks to come again after %s of the database, and has it logged as a fault', (_, error) => {
  const { problem, headers, fault } = problemOf(error);
  expect(problem).toMatchObject({ code: 'unavailable', status: 503 });
  expect(headers['retry-after']).toMatch(/^[1-9]\d*$/);
  expect(fault).toBe(true);
});

it.each([
  [404, 'not-found'],
  [413, 'too-large'],
  [418, 'bad-request'],
  [500, 'internal'],
] as const)('answers an HTTP exception of status %i as %s', (status, code) =>
  expect(problemOf(new HttpException('x', status)).problem.code).toBe(code),
);

it('takes a request that was cut off for its caller’s mistake, and a fault of ours for a fault', () => {
  const cutOff = problemOfRequest(Object.assign(new Error('aborted'), { statusCode: 400 }), 'r1');
  expect(cutOff).toMatchObject({ problem: { code: 'bad-request', requestId: 'r1' }, fault: false });
  expect(problemOfRequest(new Error('boom'))).toMatchObject({ problem: { code: 'internal' }, fault: true });
});

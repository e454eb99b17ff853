import { HttpException } from '@nestjs/common';
import { Refusal } from '@rollcall/decider';
import { isProblemCode, PROBLEM_TYPE_PREFIX, PROBLEMS, type Problem, type ProblemCode } from '@rollcall/wire';
import { isOutage } from './outage.js';

/** Seconds that a caller is asked to wait where a refusal does not say it itself. */
const RETRY_AFTER_DEFAULT = 5;

/** What is answered instead of a result: the document, the headers that go with it, and whether it is our fault. */
export type ProblemAnswer = {
  readonly problem: Problem;
  readonly headers: Readonly<Record<string, string>>;
  /** True when nobody foresaw the error: it is logged, and nothing of it is told to the caller. */
  readonly fault: boolean;
};

/** The answer to anything that was thrown: a refusal's own code, a request that cannot be read, or `internal`. */
export const problemOf = (error: unknown, requestId?: string): ProblemAnswer => {
  const { code, details = {}, fault = false } = classify(error);
  const { status, title } = PROBLEMS[code];
  const { retryAfter, ...told } = details;
  return {
    problem: {
      ...told,
      type: `${PROBLEM_TYPE_PREFIX}${code}`,
      title,
      status,
      code,
      ...(requestId === undefined ? {} : { requestId }),
    },
    headers: {
      ...(status === 401 ? { 'www-authenticate': 'Bearer' } : {}),
      ...(status === 429 || status === 503 || retryAfter !== undefined
        ? { 'retry-after': String(Math.ceil(typeof retryAfter === 'number' ? retryAfter : RETRY_AFTER_DEFAULT)) }
        : {}),
    },
    fault,
  };
};

type Classified = { readonly code: ProblemCode; readonly details?: Refusal['details']; readonly fault?: boolean };

const FAULT: Classified = { code: 'internal', fault: true };
const OUTAGE: Classified = { code: 'unavailable', fault: true };

const classify = (error: unknown): Classified => {
  if (error instanceof Refusal) return isProblemCode(error.code) ? { code: error.code, details: error.details } : FAULT;
  if (error instanceof HttpException) return ofStatus(error.getStatus());
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  if (typeof code === 'string' && code.startsWith('FST_')) return ofFastify(code, error as Error);
  return isOutage(error) ? OUTAGE : FAULT;
};

const ofFastify = (code: string, error: Error): Classified => {
  if (code === 'FST_ERR_CTP_EMPTY_JSON_BODY' || code === 'FST_ERR_CTP_INVALID_JSON_BODY')
    return { code: 'malformed-body' };
  return 'statusCode' in error && typeof error.statusCode === 'number' ? ofStatus(error.statusCode) : FAULT;
};

const CODE_OF_STATUS: Readonly<Record<number, ProblemCode>> = {
  404: 'not-found',
  405: 'method-not-allowed',
  413: 'too-large',
  415: 'unsupported-type',
  422: 'invalid-body',
  429: 'slow-down',
  431: 'headers-too-large',
  503: 'unavailable',
};

const ofStatus = (status: number): Classified => {
  const code = CODE_OF_STATUS[status];
  if (code) return { code };
  return status >= 400 && status < 500 ? { code: 'bad-request' } : FAULT;
};

/** The answer to a request that could not be read to its end: what the HTTP server itself found wrong with it. */
export const problemOfRequest = (error: Error, requestId?: string): ProblemAnswer => {
  const answer = problemOf(error, requestId);
  const status = 'statusCode' in error && typeof error.statusCode === 'number' ? error.statusCode : 500;
  // A peer that hangs up in mid-body, for example: theirs, and no reason to write a line of ours.
  return answer.fault && status >= 400 && status < 500 ? problemOf(new Refusal('bad-request'), requestId) : answer;
};

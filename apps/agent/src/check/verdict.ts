import { retryAfterOf } from '@rollcall/check-schedule';
import { isProblemCode, PROBLEM_MEDIA_TYPE, type CheckAnswer, type ProblemCode } from '@rollcall/wire';
import type { PlaneAnswer } from '../plane/plane.js';

/** The answer to a check as far as we trust it. `interval` is what came, of whatever type; every other field was looked at. */
export type AcceptedCheck = Omit<CheckAnswer, 'interval'> & { readonly interval: unknown };

/** What an answer means. Everything that is not ours changes nothing on this machine (O20). */
export type Verdict =
  | { readonly kind: 'accepted'; readonly answer: AcceptedCheck }
  | {
      readonly kind: 'refused';
      readonly code: ProblemCode;
      readonly detail: string | null;
      readonly highestBoot: number | null;
      readonly retryAfter: number | null;
    }
  | { readonly kind: 'not-ours'; readonly status: number; readonly retryAfter: number | null };

/**
 * Reads an answer. A refusal is one of our problem documents with a code of the closed list, whatever its status; a success is a 200
 * that is a check answer. A portal's page, a bare 410 or a 404 is neither.
 */
export const verdictOn = (answer: PlaneAnswer, wall: number): Verdict => {
  const retryAfter =
    answer.status === 429 || answer.status === 503
      ? retryAfterOf(answer.header('retry-after'), answer.header('date')[0], wall)
      : null;
  const notOurs: Verdict = { kind: 'not-ours', status: answer.status, retryAfter };
  const body = parsed(answer.body);
  if (answer.mediaType === PROBLEM_MEDIA_TYPE && answer.status >= 400) {
    const code = body?.['code'];
    if (!isProblemCode(code)) return notOurs;
    const { detail, highestBoot } = body ?? {};
    return {
      kind: 'refused',
      code,
      detail: typeof detail === 'string' ? detail : null,
      highestBoot: Number.isSafeInteger(highestBoot) ? (highestBoot as number) : null,
      retryAfter,
    };
  }
  if (answer.status !== 200 || answer.mediaType !== 'application/json' || !body) return notOurs;
  const accepted = asAccepted(body);
  return accepted ? { kind: 'accepted', answer: accepted } : notOurs;
};

const asAccepted = (body: Record<string, unknown>): AcceptedCheck | null => {
  const { machine, chain, pins, requests, serverTime, interval } = body;
  if (!isObject(machine) || typeof machine['id'] !== 'string' || typeof chain !== 'string') return null;
  const asked = isObject(requests) ? requests : {};
  return {
    machine: {
      id: machine['id'],
      name: typeof machine['name'] === 'string' ? machine['name'] : null,
      owner: typeof machine['owner'] === 'string' ? machine['owner'] : '',
      generation: Number.isSafeInteger(machine['generation']) ? (machine['generation'] as number) : 0,
    },
    interval,
    chain,
    ...(Array.isArray(pins) ? { pins: pins.filter((pin) => typeof pin === 'string') } : {}),
    requests: {
      logTail: typeof asked['logTail'] === 'string' ? asked['logTail'] : null,
      rotate: typeof asked['rotate'] === 'string' ? asked['rotate'] : null,
    },
    serverTime: typeof serverTime === 'string' ? serverTime : '',
  };
};

const parsed = (text: string): Record<string, unknown> | null => {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : null;
  } catch {
    return null;
  }
};

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

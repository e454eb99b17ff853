import { LIMITS, retryAfterOf } from '@rollcall/check-schedule';
import { DeadlineExceeded } from '@rollcall/lifetimes';
import { TransportError, type HttpAnswer } from '@rollcall/pinned-https';
import { isProblemCode, PROBLEM_MEDIA_TYPE, type Problem, type ProblemCode } from '@rollcall/wire';
import type { Outcome } from './simulated-machine.js';

/** What came back for a request: what it means, the word that it is counted under, and what the plane asked to wait. */
export type Reading<Accepted> = {
  readonly outcome:
    { readonly kind: 'accepted'; readonly answer: Accepted } | Exclude<Outcome, { readonly kind: 'accepted' }>;
  readonly counted: string;
  /** null: there was no answer. */
  readonly status: number | null;
  /** Milliseconds, as far as a machine obeys; null where the answer names none. */
  readonly retryAfter: number | null;
};

/**
 * Reads an answer. As for an agent, a success is JSON of the expected form, a refusal is one of our problem documents, and anything else is
 * not from the plane and changes nothing (O20).
 */
export const readAnswer = <Accepted>(
  { status, mediaType, header, body }: HttpAnswer,
  isExpected: (body: Partial<Accepted>) => boolean,
): Reading<Accepted> => {
  const asked = retryAfterOf(header('retry-after'), header('date')[0], Date.now());
  const retryAfter = asked === null ? null : Math.min(LIMITS.retryAfterCap, asked);
  const value = parsed(body);
  if (mediaType === PROBLEM_MEDIA_TYPE && status >= 400 && isProblemCode(value?.['code'])) {
    const { code, highestBoot = null } = value as Problem;
    return { outcome: { kind: 'refused', code, highestBoot }, counted: `refused: ${code}`, status, retryAfter };
  }
  if ((status === 200 || status === 201) && mediaType === 'application/json' && value && isExpected(value as Accepted))
    return { outcome: { kind: 'accepted', answer: value as Accepted }, counted: 'accepted', status, retryAfter };
  return { outcome: { kind: 'unanswered' }, counted: `not from the plane: status ${status}`, status, retryAfter };
};

/** Reads why no answer came. @throws whatever is no fault of a network */
export const readFailure = (error: unknown): Reading<never> => {
  const why =
    error instanceof DeadlineExceeded ? 'no answer in time' : error instanceof TransportError ? error.code : null;
  if (why === null) throw error;
  return { outcome: { kind: 'unanswered' }, counted: `lost: ${why}`, status: null, retryAfter: null };
};

/** Whether the same request may succeed later. */
export const passes = ({ outcome }: Reading<unknown>): boolean => {
  const passing: readonly ProblemCode[] = ['unavailable', 'slow-down', 'internal'];
  return outcome.kind === 'unanswered' || (outcome.kind === 'refused' && passing.includes(outcome.code));
};

const parsed = (text: string): Record<string, unknown> | null => {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : null;
  } catch {
    return null;
  }
};

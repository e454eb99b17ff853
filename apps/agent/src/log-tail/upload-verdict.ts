import { verdictOn } from '../check/verdict.js';
import type { PlaneAnswer } from '../plane/plane.js';

/**
 * What became of an upload. `received`: the answer echoed its stamp. `not-wanted`: the plane waits for it no more. Both end it; after
 * anything else it is tried again when an answer to a check still asks for it (O26).
 */
export type UploadVerdict =
  { readonly kind: 'received' | 'not-wanted' } | { readonly kind: 'failed'; readonly code: string };

/** As strict as for a check: what is not the plane's own answer settles nothing (O20). */
export const uploadVerdictOn = (answer: PlaneAnswer, stamp: string): UploadVerdict => {
  if (answer.status === 200 && answer.mediaType === 'application/json' && echoOf(answer.body) === stamp)
    return { kind: 'received' };
  const verdict = verdictOn(answer, 0);
  if (verdict.kind !== 'refused') return { kind: 'failed', code: 'not-ours' };
  return verdict.code === 'request-not-pending' ? { kind: 'not-wanted' } : { kind: 'failed', code: verdict.code };
};

const echoOf = (body: string): unknown => {
  try {
    return (JSON.parse(body) as { readonly logTail?: unknown } | null)?.logTail;
  } catch {
    return undefined;
  }
};

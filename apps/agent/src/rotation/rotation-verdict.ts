import { verdictOn } from '../check/verdict.js';
import type { PlaneAnswer } from '../plane/plane.js';

/** What became of the registration of a hash. */
export type RotationVerdict =
  | { readonly kind: 'registered'; readonly generation: number }
  /** A code of the plane, or `not-ours`. */
  | { readonly kind: 'refused'; readonly code: string };

/** As strict as for a check: what is not the plane's own answer registers nothing (O20). */
export const rotationVerdictOn = (answer: PlaneAnswer): RotationVerdict => {
  if (answer.status === 200 && answer.mediaType === 'application/json') {
    const generation = generationIn(answer.body);
    if (generation !== null) return { kind: 'registered', generation };
  }
  const verdict = verdictOn(answer, 0);
  return { kind: 'refused', code: verdict.kind === 'refused' ? verdict.code : 'not-ours' };
};

const generationIn = (body: string): number | null => {
  try {
    const { generation } = JSON.parse(body) as { readonly generation?: unknown };
    return Number.isSafeInteger(generation) && (generation as number) > 0 ? (generation as number) : null;
  } catch {
    return null;
  }
};

import { isProblemCode, PROBLEM_MEDIA_TYPE, PROBLEMS, type ProblemCode } from '@rollcall/wire';
import type { MachineRow } from '../check/enrolment.js';
import type { PlaneAnswer } from './plane.js';

/** Admitted as this machine; `interval` in seconds, NaN where the answer named none. */
export type Enrolled = { readonly kind: 'enrolled'; readonly machine: MachineRow; readonly interval: number };

/** What the answer to an enrolment means. */
export type EnrolmentVerdict =
  | Enrolled
  | { readonly kind: 'refused'; readonly code: ProblemCode; readonly sentence: string }
  | { readonly kind: 'not-ours' };

const SENTENCES: Partial<Record<ProblemCode, string>> = {
  'token-refused': 'The plane does not take this: it was used, has expired, or never existed. Get a new one.',
  'identifier-in-use':
    'This installation is admitted already under another credential. Delete its machine at the plane first; the token stays good.',
};

/** As strict as for a check: a success is ours when it is a machine, a refusal when it is one of our problem documents. */
export const enrolmentVerdictOn = ({ status, mediaType, body }: PlaneAnswer): EnrolmentVerdict => {
  const value = parsed(body);
  if (mediaType === PROBLEM_MEDIA_TYPE && status >= 400) {
    const code = value?.['code'];
    if (!isProblemCode(code)) return { kind: 'not-ours' };
    const detail = typeof value?.['detail'] === 'string' ? `: ${value['detail']}` : '';
    return { kind: 'refused', code, sentence: SENTENCES[code] ?? `${PROBLEMS[code].title}${detail}` };
  }
  const machine = value?.['machine'] as Partial<MachineRow> | null | undefined;
  const isOurs =
    (status === 200 || status === 201) && mediaType === 'application/json' && typeof machine?.id === 'string';
  if (!isOurs) return { kind: 'not-ours' };
  return {
    kind: 'enrolled',
    machine: {
      id: machine.id ?? '',
      name: typeof machine.name === 'string' ? machine.name : null,
      owner: typeof machine.owner === 'string' ? machine.owner : '',
    },
    interval: Number(value?.['interval']),
  };
};

const parsed = (text: string): Record<string, unknown> | null => {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : null;
  } catch {
    return null;
  }
};

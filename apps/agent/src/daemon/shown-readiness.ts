import { blockerOf } from '@rollcall/machine';
import type { Findings } from '../check/readiness.js';

/** A code with a sentence for the person at this machine. */
export type ShownCode = { readonly code: string; readonly sentence: string };

/** What keeps this machine from taking work, and what is not known about it. */
export type ShownReadiness = { readonly blockers: readonly ShownCode[]; readonly notProbed: readonly ShownCode[] };

/** The findings in words; null as long as there are none. The words are the plane's, so that both say the same. */
export const shownReadiness = (findings: Findings | null): ShownReadiness | null =>
  findings && {
    blockers: findings.blockers.map((code) => {
      const { sentence, fix } = blockerOf(code);
      return { code, sentence: `${sentence.charAt(0).toUpperCase()}${sentence.slice(1)}. Who can fix it: ${fix}.` };
    }),
    notProbed: findings.notProbed.map(({ code, why }) => ({
      code,
      sentence: `Not known whether ${blockerOf(code).sentence}: ${why}.`,
    })),
  };

/** The findings for the log. */
export const findingsLine = (findings: Findings | null): string => {
  const { blockers, notProbed } = findings ?? { blockers: [], notProbed: [] };
  const unknown = notProbed.map(({ code, why }) => `${code} (${why})`);
  return `Blockers: ${listed(blockers)}; not probed: ${listed(unknown)}`;
};

const listed = (items: readonly string[]): string => items.join(', ') || 'none';

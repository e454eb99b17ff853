import { cleanDisplay, type SelfReport } from '@rollcall/machine';

/** Code points. */
const LENGTHS = { hostname: 253, agentVersion: 64, platform: 32, arch: 32 } as const satisfies Record<
  keyof SelfReport,
  number
>;
const NAME_LENGTH = 64;
const MOST_CODES = 64;
const CODE_FORM = /^[a-z][a-z0-9-]{0,63}$/;

/** The name that a check offers, fit to be stored and shown; null where there is none to adopt. */
export const nameFrom = (said: unknown): string | null => cleanDisplay(said, NAME_LENGTH);

/** What a machine reports about itself, cleaned. A field that cannot be shown is as one that was not sent (C11). */
export const reportFrom = (said: unknown): Partial<SelfReport> => {
  const fields = typeof said === 'object' && said !== null ? (said as Readonly<Record<string, unknown>>) : {};
  return Object.fromEntries(
    Object.entries(LENGTHS)
      .map(([field, length]) => [field, cleanDisplay(fields[field], length)] as const)
      .filter(([, value]) => value !== null),
  );
};

/** The same with every field, for a machine of which nothing is known yet. */
export const wholeReportFrom = (said: unknown): SelfReport => ({
  hostname: null,
  agentVersion: null,
  platform: null,
  arch: null,
  ...reportFrom(said),
});

/** What a check says about readiness, in the words of the machine's rules. */
export type SaidReadiness = { readonly blockers: readonly string[] | null; readonly notProbed: readonly string[] };

/**
 * What was said about readiness. Anything that is no list of codes is "nothing was probed", so that what is known stays: a list of
 * unprobed codes that cannot be read may have named any of them (C11, O25).
 */
export const readinessFrom = (blockers: unknown, notProbed: unknown): SaidReadiness => {
  const unheard = codesIn(notProbed ?? []);
  return unheard ? { blockers: codesIn(blockers), notProbed: unheard } : { blockers: null, notProbed: [] };
};

const codesIn = (said: unknown): readonly string[] | null => {
  if (!Array.isArray(said) || said.length > MOST_CODES) return null;
  return said.every((code): code is string => typeof code === 'string' && CODE_FORM.test(code)) ? said : null;
};

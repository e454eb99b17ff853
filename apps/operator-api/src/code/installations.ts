import { code, userCodeKey } from '@rollcall/admission';

/** The short codes that installations show. */
export const INSTALLATIONS = { decider: code, keyOf: userCodeKey };

import { login, loginUserCodeKey } from '@rollcall/admission';

/** The short codes that programs show which want to sign in. */
export const LOGINS = { decider: login, keyOf: loginUserCodeKey };

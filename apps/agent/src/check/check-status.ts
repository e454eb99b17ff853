import type { CheckRequest } from '@rollcall/wire';
import type { MachineRow } from './enrolment.js';

/** How the checks of this machine are going. Times in milliseconds since 1970, by this machine's clock. */
export type CheckStatus = {
  /** `idle`: there is nothing to check in with. */
  readonly state: 'checking' | 'waiting-for-person' | 'idle' | 'stopping';
  readonly boot: CheckRequest['boot'];
  /** Of the newest check of this start. */
  readonly sequence: number;
  readonly machine: MachineRow | null;
  /** Seconds. */
  readonly interval: number;
  readonly lastAttemptAt: number | null;
  readonly lastAcceptedAt: number | null;
  /** `accepted`, a refusal's code, a transport failure's, or `not-ours`; with a sentence for a person. */
  readonly lastOutcome: { readonly code: string; readonly sentence: string } | null;
  /** Set when the plane's certificate says that this machine's clock cannot be right (C13). */
  readonly clockProblem: string | null;
  readonly nextCheckAt: number | null;
};

import type { CheckStatus } from '../check/check-status.js';
import type { ShownReadiness } from './shown-readiness.js';

/** What `rollcall-agent status --json` prints. Times are RFC 3339; nothing in it is a secret. */
export type AgentStatus = {
  readonly running: boolean;
  readonly version: string;
  readonly pid: number | null;
  readonly state: AgentState;
  /** One sentence for a person. */
  readonly sentence: string;
  /** Since when a person wants it stopped; null when nobody does. */
  readonly stoppedByPersonSince: string | null;
  readonly plane: string | null;
  readonly machine: { readonly id: string; readonly name: string | null; readonly owner: string } | null;
  readonly checks: {
    readonly boot: number;
    readonly sequence: number;
    /** Seconds. */
    readonly interval: number;
    readonly lastAttemptAt: string | null;
    readonly lastAcceptedAt: string | null;
    readonly lastOutcome: string | null;
    readonly nextCheckAt: string | null;
  } | null;
  /** What the probes of this machine say; null when no agent is running, or its probes have not all had a turn yet. */
  readonly readiness: ShownReadiness | null;
  /** What else a person should know: a wrong clock, a disk that cannot be written. */
  readonly problems: readonly string[];
};

/** How an agent is; the sentence beside it says more. */
export type AgentState =
  'stopped' | 'not-enrolled' | 'credential-unreadable' | 'checking' | 'waiting-for-person' | 'stopping';

const time = (at: number | null): string | null => (at === null ? null : new Date(at).toISOString());

/** The part about the checks, as it is shown. */
export const shownChecks = (status: CheckStatus): AgentStatus['checks'] => ({
  boot: status.boot.counter,
  sequence: status.sequence,
  interval: status.interval,
  lastAttemptAt: time(status.lastAttemptAt),
  lastAcceptedAt: time(status.lastAcceptedAt),
  lastOutcome: status.lastOutcome?.code ?? null,
  nextCheckAt: time(status.nextCheckAt),
});

/** How the checks are going, in a sentence. */
export const checkSentence = (status: CheckStatus): string => {
  if (status.state === 'stopping') return 'Saying goodbye to the plane.';
  if (status.lastOutcome === null) return 'The first check is under way.';
  return status.lastOutcome.code === 'accepted' ? 'Checking in with the plane.' : status.lastOutcome.sentence;
};

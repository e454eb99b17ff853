/** What a machine and the plane say to each other: JSON over HTTPS under `/v1`, bodies up to 64 KiB (plane, section 4). */

export const BODY_LIMIT_BYTES = 65_536;

/** A log's tail is raw bytes, up to so many (plane, section 4). */
export const LOG_TAIL_LIMIT_BYTES = 1_048_576;

/** The least and the greatest number of seconds between checks that an agent will follow, and the one it starts with (O16, C10). */
export const INTERVAL_FLOOR_SECONDS = 10;
export const INTERVAL_CEILING_SECONDS = 3_600;
export const INTERVAL_DEFAULT_SECONDS = 30;

/** The closed list of reasons that the last check before a stop may carry (O17). */
export type StopReasonWord = 'person' | 'update' | 'restart' | 'handoff' | 'signal' | 'revocation';

/** `POST /v1/enrolments`. No bearer: the token is the right to join once. */
export type EnrolmentRequest = {
  /** The secret part of the enrolment token, `rce_…`. */
  readonly token: string;
  /** A random UUID that the installation made and keeps. Never shown by any API, authorises nothing. */
  readonly identifier: string;
  /** SHA-256 of the credential that the installation made, as 64 lower-case hex digits. */
  readonly credentialHash: string;
  readonly profile: SelfReportBody;
};

/** What an installation reports about itself. Display only; null or absent: no reading, the known one stays. */
export type SelfReportBody = {
  readonly hostname?: string | null;
  readonly agentVersion?: string | null;
  readonly platform?: string | null;
  readonly arch?: string | null;
};

/** 201 for a new machine, 200 for a repetition by the same installation. */
export type EnrolmentAnswer = {
  readonly machine: { readonly id: string; readonly name: string | null; readonly owner: string };
  /** Seconds until the first check is due after the one that the agent makes at once. */
  readonly interval: number;
};

/**
 * `POST /v1/preadmissions/redeem`, with the credential that a person registered beforehand as the bearer: it is the right to join once. Answered
 * like an enrolment.
 */
export type RedeemPreadmissionRequest = Omit<EnrolmentRequest, 'token' | 'credentialHash'>;

/** `POST /v1/codes`: an installation without a token asks to be let in (O12). */
export type CodeRequest = Omit<EnrolmentRequest, 'token'>;

/** What it shows to a person, and what it asks with whether that person has answered. Nothing of it can be asked for again. */
export type CodeAnswer = {
  /** `WDJB-MJHT`, for a person to type by hand. */
  readonly userCode: string;
  /** `rcd_…`; stays with the installation. */
  readonly deviceCode: string;
  /** Where a person types it: an https address. null where this plane was not told under which name people reach it. */
  readonly verificationAddress: string | null;
  /** Seconds until both are over. */
  readonly expiresIn: number;
  /** Seconds between two questions; 5 more after each `slow-down`. */
  readonly interval: number;
};

/**
 * `POST /v1/codes/redeem`: answered with an `EnrolmentAnswer` once. `code-pending` and `slow-down`: ask again later; `code-refused` is all that is
 * told of a code that expired, was refused, was used, or never existed. After a lost answer the installation checks in: it is admitted, if so.
 */
export type RedeemCodeRequest = { readonly deviceCode: string };

/** `POST /v1/check`, with `Authorization: Bearer rcm_…`. */
export type CheckRequest = {
  readonly boot: { readonly counter: number; readonly id: string };
  readonly sequence: number;
  /** UUID, kept with its body over the retries of one check. */
  readonly checkId: string;
  /** The chain token of the newest answer; null when there is none. */
  readonly chain: string | null;
  /** What the agent believes it is. Display only. */
  readonly believes?: { readonly machine?: string; readonly generation?: number };
  readonly said: 'running' | 'stopping';
  /** Required when `said` is `stopping`, else null or absent. */
  readonly reason?: StopReasonWord | null;
  /** Blocker codes; `[]` nothing blocks; null or absent: not probed yet, which changes nothing (O25). */
  readonly blockers?: readonly string[] | null;
  /** Codes about which nothing is known at present, as when a probe hangs: what is stored about them stays (O25). Absent: none. */
  readonly notProbed?: readonly string[] | null;
  /** The name to adopt, once. null: no reading yet. */
  readonly name?: string | null;
  readonly report?: SelfReportBody;
  /** How long the agent was cut off before this check, in seconds (N11). */
  readonly secondsCutOff?: number;
};

/** The answer to an accepted check; a repetition of the check gets the same one (plane, section 4). */
export type CheckAnswer = {
  readonly machine: {
    readonly id: string;
    readonly name: string | null;
    readonly owner: string;
    readonly generation: number;
  };
  /** Seconds until the next check. */
  readonly interval: number;
  /** To be presented by the next check. */
  readonly chain: string;
  /** SPKI pins of the plane's CA key, `sha256/<base64>`: current, then next. Absent where the plane has a public certificate. */
  readonly pins?: readonly string[];
  /**
   * What the plane asks for (O26). `logTail`: the stamp of a request for the tail of the log, on each answer until an upload echoes it;
   * null: none. `rotate`: the stamp of a request for a newer generation, on each answer until one is confirmed; null: none.
   */
  readonly requests: { readonly logTail: string | null; readonly rotate: string | null };
  /** The plane's time, RFC 3339 in UTC. Information; nothing is decided by it. */
  readonly serverTime: string;
};

/**
 * `PUT /v1/log-tails/:stamp`: the tail of the log as `application/octet-stream`, at most `LOG_TAIL_LIMIT_BYTES`, with the same bearer as a
 * check. The answer echoes the stamp; any other stamp than the one that is asked for is refused with `request-not-pending` (O26).
 */
export type LogTailReceipt = { readonly logTail: string };

/**
 * `POST /v1/credential/rotations`, with the current credential as the bearer: the machine made the next one, stored it, and registers its hash
 * (O19). The same hash again is answered with the same generation; the old one keeps checking in until the new one has succeeded once.
 */
export type RotationRequest = {
  /** SHA-256 of the next credential, as 64 lower-case hex digits. */
  readonly credentialHash: string;
};

/** The generation that the hash is. */
export type RotationAnswer = { readonly generation: number };

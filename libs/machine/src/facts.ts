import type { Instant } from '@rollcall/decider';

/** What a machine says of itself in a check. The last check before a stop says `stopping` with one of the reasons (O17). */
export type StopReason = 'person' | 'update' | 'restart' | 'handoff' | 'signal' | 'revocation';
export const STOP_REASONS: readonly StopReason[] = ['person', 'update', 'restart', 'handoff', 'signal', 'revocation'];
export type Said = 'running' | 'stopping';

/** Made at each start of the agent: the counter orders starts, the random id tells two copies with one counter apart. */
export type Boot = {
  /** 1, 2, 3, … of this installation; below 2^31. */
  readonly counter: number;
  /** 32 random bits as 8 lower-case hex digits. */
  readonly id: string;
};

/** What a machine reports about itself. Display only: no field authorises anything (O5). */
export type SelfReport = {
  readonly hostname: string | null;
  readonly agentVersion: string | null;
  /** For example `linux`, and `x64`. */
  readonly platform: string | null;
  readonly arch: string | null;
};

// ---- ledger events of the category `machine` --------------------------------------------------------------------------

/** A person's token was redeemed: this installation exists. The actor is the person who issued the token. */
export type MachineAdmitted = {
  readonly type: 'MachineAdmitted';
  /** The machine's id (UUID), as in the stream's name. */
  readonly machine: string;
  readonly nodeId: string;
  /** The id of the person that owns the node. */
  readonly owner: string;
  /** The id (never the secret) of the enrolment token, the short code, or the pre-admission. */
  readonly token: string;
  /** By which way it was let in: a short code, or a credential that a person had registered; left out for an enrolment token (O12). */
  readonly via?: 'code' | 'preadmission';
  /** A name given with the token, or the node's; null when the first named check names the node. */
  readonly name: string | null;
  /** SHA-256 (hex) of the identifier; the claim is released by deletion. */
  readonly identifierHash: string;
  /** The id of the machine that the node had before, which was deleted; left out for a node's first (N19). */
  readonly succeeds?: string;
};
/** A hash of a credential became generation n; the one before stays valid until this one has succeeded once (O19). */
export type GenerationRegistered = {
  readonly type: 'GenerationRegistered';
  readonly generation: number;
  readonly keyHash: string;
  /** When that was decided (RFC 3339, UTC): what its age and an unused one's end are counted from. Absent in older records. */
  readonly registeredAt?: string;
};
/** The first success of a new key is the evidence that it arrived; the generation that was current until then is cut by it. */
export type GenerationConfirmed = { readonly type: 'GenerationConfirmed'; readonly generation: number };
/**
 * A check presented a chain token that no honest holder of this credential has: it is in use twice (B2). At most once an hour for as long as no
 * later generation has been confirmed.
 */
export type CredentialForked = {
  readonly type: 'CredentialForked';
  /** The generation that is in use twice. */
  readonly generation: number;
  /** The start of the agent that presented it; whether that is the copy or the original, nobody can tell from here. */
  readonly boot: Boot;
  /** RFC 3339, UTC: the record's time, as far as it was known when the check was decided. */
  readonly noticedAt: string;
};
/**
 * A registered generation was not used in time, so its key never counts; the current one is unaffected. (One whose place another
 * registration has taken is void by that, without a word of its own.)
 */
export type PendingVoided = { readonly type: 'PendingVoided'; readonly generation: number };
/** A person wants every generation up to this one replaced. It rides on each answer until a newer one is confirmed. */
export type RotationRequested = {
  readonly type: 'RotationRequested';
  /** The request's own name, for whoever carries it out (RFC 3339, UTC). */
  readonly stamp: string;
  readonly generation: number;
};
/** The first check of a new start of the agent. */
export type AgentStarted = { readonly type: 'AgentStarted'; readonly boot: Boot };
/** The name was adopted from the first check that carried one (O24). Happens once. */
export type NameAdopted = { readonly type: 'NameAdopted'; readonly name: string };
/** A person named the node; no check changes that. */
export type MachineRenamed = { readonly type: 'MachineRenamed'; readonly name: string };
/** What the machine reports about itself changed. */
export type SelfReportChanged = { readonly type: 'SelfReportChanged' } & SelfReport;
/** The machine said that it is about to stop, and why. */
export type StopAnnounced = { readonly type: 'StopAnnounced'; readonly reason: StopReason };
/** The set of what keeps it from taking work changed; sorted codes. Unknown codes are kept. */
export type BlockersChanged = { readonly type: 'BlockersChanged'; readonly blockers: readonly string[] };
/** A person asked for the tail of the machine's log. The stamp is the request's own name: the record's time, strictly growing (O26). */
export type LogTailRequested = { readonly type: 'LogTailRequested'; readonly stamp: string };
/** The upload that echoes the stamp arrived; the bytes are not part of the record. */
export type LogTailReceived = { readonly type: 'LogTailReceived'; readonly stamp: string };
/**
 * Nothing was heard of the machine for longer than its window, while the plane listened: recorded once per silence (O22, B1). The actor is
 * the plane.
 */
export type WentAbsent = {
  readonly type: 'WentAbsent';
  /** When its last check was recorded (RFC 3339, UTC). */
  readonly lastCheckAt: string;
  /** When its window was over; later than that it was noticed. Counted from the last check, or from the end of a later gap. */
  readonly dueAt: string;
  /** Seconds. */
  readonly window: number;
  /** Why it had said that it would stop; null: it had said that it runs, so the cause is unknown (O23). */
  readonly stopReason: StopReason | null;
};
/** The check that is recorded with it ended a silence. */
export type Returned = {
  readonly type: 'Returned';
  /** Whole seconds since the silence had become an absence (`dueAt`). */
  readonly absentFor: number;
};
/** A person took the machine out of work; the last word about it counts. */
export type MachinePaused = {
  readonly type: 'MachinePaused';
  readonly note: string;
  /** RFC 3339, UTC: then it is over by itself; null: when somebody says so. */
  readonly until: string | null;
};
/** A person took the pause back. */
export type MachineResumed = { readonly type: 'MachineResumed' };
/** What is attached to the node, as a whole, sorted by key. */
export type LabelsChanged = { readonly type: 'LabelsChanged'; readonly labels: { readonly [key: string]: string } };
/**
 * Somebody who may let a machine join claimed this machine's identifier, and got nothing: a second installation, or this one set up anew
 * (C03). Recorded once a minute at most. The actor is the plane.
 */
export type ClaimRefused = {
  readonly type: 'ClaimRefused';
  /** The record's time, so that the next one within a minute is known (RFC 3339, UTC). */
  readonly noticedAt: string;
  /** The id of the enrolment token or short code; it was not used up. */
  readonly token: string;
  /** What the other installation says of itself. */
  readonly hostname: string | null;
};
/** Deleting a machine is revoking it; the last fact of the stream (O31). */
export type MachineDeleted = {
  readonly type: 'MachineDeleted';
  readonly identifierHash: string;
  /** The node that has no machine from here on. Left out by the versions before nodes had more than one. */
  readonly nodeId?: string;
};

/** Everything of the ledger that can happen to a machine. */
export type MachineEvent =
  | MachineAdmitted
  | GenerationRegistered
  | GenerationConfirmed
  | CredentialForked
  | PendingVoided
  | RotationRequested
  | AgentStarted
  | NameAdopted
  | MachineRenamed
  | SelfReportChanged
  | StopAnnounced
  | BlockersChanged
  | LogTailRequested
  | LogTailReceived
  | WentAbsent
  | Returned
  | MachinePaused
  | MachineResumed
  | LabelsChanged
  | ClaimRefused
  | MachineDeleted;

// ---- ledger events of the category `refusals`: the stream `refusals-<machine>`, because nothing follows a deletion in the machine's own ----

/** Why a credential that this plane once accepted is refused: the machine was deleted, or a newer generation is in use (O20). */
export type RefusedFor = 'credential-revoked' | 'generation-behind';

/**
 * Somebody presented a credential that does not act any more (B7): the first such use, and then at most one an hour for each reason and
 * generation. The actor is the plane.
 */
export type CredentialRefused = {
  readonly type: 'CredentialRefused';
  /** The machine's id. */
  readonly machine: string;
  readonly code: RefusedFor;
  /** Of the credential that was presented; null where it is too old for the head to know, and then its hash says which it was. */
  readonly generation: number | null;
  readonly keyHash: string;
  /** When the machine's newest check was recorded, by whichever key; null where there never was one (RFC 3339, UTC). */
  readonly lastAcceptedAt: string | null;
  /** When it was refused, by the record's time; the lag to `lastAcceptedAt` is what the proof of a revocation shows. */
  readonly refusedAt: string;
};

/** Everything of the ledger about refused uses. */
export type RefusalEvent = CredentialRefused;

// ---- the check-in ---------------------------------------------------------------------------------------------------

/** One accepted check. A row of `check_in`, not a ledger event; it takes a revision of the stream like one. */
export type CheckedIn = {
  readonly type: 'CheckedIn';
  /** The machine's id (UUID). */
  readonly machine: string;
  /** The generation that was presented. */
  readonly generation: number;
  readonly boot: Boot;
  /** Counts within the boot, from 1; below 2^31. */
  readonly sequence: number;
  /** Random per check, kept over retries (UUID). */
  readonly checkId: string;
  readonly said: Said;
  /** Set exactly when `said` is `stopping`. */
  readonly reason: StopReason | null;
  /** Seconds until the next check, as the answer told it. */
  readonly interval: number;
  /** Seconds of silence after which the machine counts as absent, in force from this check on (O22). */
  readonly window: number;
  /** Not recorded: after a refold it is unknown, which costs a signal and nothing else (resettable). */
  readonly chain?: ChainStep;
};

/** The chain tokens of one check, by number (plane, section 4). */
export type ChainStep = {
  /** What the check presented, if that was one of ours, for this machine and this epoch. */
  readonly presented: number | null;
  /** What the answer carried: above every number before. */
  readonly issued: number;
};

/** Everything that can happen to a machine, in one order of revisions. */
export type MachineFact = MachineEvent | CheckedIn;

/** A fact with its place in the record. */
export type Recorded<Fact> = {
  readonly stream: string;
  /** 1, 2, 3, … over events and check-ins of the stream together. */
  readonly revision: number;
  /** When the record took it. */
  readonly recordedAt: Instant;
  readonly batch: bigint;
  readonly fact: Fact;
};

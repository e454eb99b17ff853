import type { Instant } from '@rollcall/decider';
import type { Boot, RefusedFor, Said, SelfReport, StopReason } from './facts.js';

/** A token was presented by an installation that makes its own secret; `token` is what the token's stream says. */
export type AdmitMachine = {
  readonly type: 'AdmitMachine';
  /** Made by the caller (UUID); the stream is `machineStream(machineId)`. A repetition may carry another one. */
  readonly machineId: string;
  readonly nodeId: string;
  readonly token: {
    readonly id: string;
    readonly expiresAt: Instant;
    readonly owner: string;
    readonly name: string | null;
    /** It is a short code, which a person approved, or the credential itself, which a person had registered. */
    readonly via?: 'code' | 'preadmission';
  };
  /** SHA-256, hex. */
  readonly identifierHash: string;
  /** SHA-256 of the credential, hex. */
  readonly keyHash: string;
  readonly report: SelfReport;
  /** What the node's machine before, deleted by now, hands on; left out for a new node. */
  readonly succeeds?: Succeeded;
};

/** The newest machine of a node, deleted, as far as it belongs to the node (N19, ADR 23). */
export type Succeeded = {
  readonly machineId: string;
  readonly name: string | null;
  readonly labels: { readonly [key: string]: string };
};

/** One check (plane, section 4). Everything in it but `keyHash` is display or repetition, never authority. */
export type AcceptCheck = {
  readonly type: 'AcceptCheck';
  /** SHA-256 of the credential that was presented, hex: the stream is the one that holds its key. */
  readonly keyHash: string;
  readonly boot: Boot;
  readonly sequence: number;
  readonly checkId: string;
  readonly said: Said;
  readonly reason: StopReason | null;
  /** null: nothing was probed yet. */
  readonly blockers: readonly string[] | null;
  /** Codes about which the machine knows nothing at present: what is stored about them stays. */
  readonly notProbed: readonly string[];
  /** Already cleaned of what cannot be stored or shown; null: nothing to adopt. */
  readonly name: string | null;
  /** Only the fields that the check carried. */
  readonly report: Partial<SelfReport>;
  /** The number of the chain token it presented, if the token was one of ours, for this machine and this epoch. */
  readonly chain: number | null;
  readonly policy: CheckPolicy;
};

/** The interval that the plane issues at present, and the least window. */
export type CheckPolicy = {
  /** Seconds; what the answer will carry. (Default: 30) */
  readonly interval: number;
  /** Seconds; the window is never shorter than this nor than three intervals. (Default: 120) */
  readonly windowFloor: number;
};

/** A person names the node; no check changes that (O24). */
export type RenameMachine = { readonly type: 'RenameMachine'; readonly name: string };

/** A person deletes the machine, which revokes its credential for good (O31). */
export type DeleteMachine = { readonly type: 'DeleteMachine' };

/** The holder of the current credential registers the hash of the next one, which it made (O19). */
export type StartRotation = {
  readonly type: 'StartRotation';
  /** SHA-256 of the credential that was presented, hex. */
  readonly keyHash: string;
  /** SHA-256 of the next credential, hex. */
  readonly nextKeyHash: string;
  /** Somebody registered that hash before, as its claim says; it stays claimed for ever. (Default: nobody did) */
  readonly isKnown?: boolean;
};

/** A person wants the machine to take a new credential; the request waits for as long as it takes (O19). */
export type RequestRotation = { readonly type: 'RequestRotation' };

/** A person asks for the tail of the machine's log; the request waits for as long as it takes (O26). */
export type RequestLogTail = { readonly type: 'RequestLogTail' };

/** The machine has uploaded the tail of its log and echoes the stamp of the request (O26). */
export type ReceiveLogTail = {
  readonly type: 'ReceiveLogTail';
  /** SHA-256 of the credential that was presented, hex. */
  readonly keyHash: string;
  readonly stamp: string;
};

/** A watcher has heard nothing of the machine for its window, as far as it knows; the rules find out whether that is so (O22, B1). */
export type NoteSilence = {
  readonly type: 'NoteSilence';
  /** The time of the newest ear that the watcher has applied. */
  readonly heardUntil: Instant;
  /** The end of the newest gap that it knows of; null without one. */
  readonly gapEnd: Instant | null;
};

/** A person takes the machine out of work. */
export type PauseMachine = {
  readonly type: 'PauseMachine';
  /** Why, for whoever wonders. */
  readonly note: string;
  /** RFC 3339, UTC, ahead; or so many seconds from when it is recorded; null: until somebody takes it back. */
  readonly until: string | { readonly seconds: number } | null;
};

/** A person takes the pause back. Nothing else does, but its own expiry. */
export type ResumeMachine = { readonly type: 'ResumeMachine' };

/** A person attaches labels to the node and takes others away. */
export type SetLabels = {
  readonly type: 'SetLabels';
  readonly set: { readonly [key: string]: string };
  /** Keys. One that is also in `set` is set. */
  readonly remove: readonly string[];
};

/** Another installation claimed the identifier of this machine, with a right to join, and was refused (C03). */
export type NoteRefusedClaim = {
  readonly type: 'NoteRefusedClaim';
  /** The id of what it brought. */
  readonly token: string;
  /** What it says of itself, cleaned. */
  readonly hostname: string | null;
};

/** Everything that can be asked of a machine's stream. */
export type MachineCommand =
  | AdmitMachine
  | AcceptCheck
  | StartRotation
  | RequestRotation
  | RenameMachine
  | RequestLogTail
  | ReceiveLogTail
  | NoteSilence
  | PauseMachine
  | ResumeMachine
  | SetLabels
  | NoteRefusedClaim
  | DeleteMachine;

/** The key that a credential's hash is. Never released, so a retired or revoked one stays known (O20). */
export const credentialKey = (keyHash: string): string => `credential:${keyHash}`;

/** The key that an identifier's hash is; deletion releases it. */
export const identifierKey = (identifierHash: string): string => `identifier:${identifierHash}`;

/** The key that a token's redemption is: a token admits one machine (N20). */
export const redemptionKey = (tokenId: string): string => `redemption:${tokenId}`;

/** The key that a node is: held by its machine that lives, so there is at most one; the newest holder is the node's newest machine. */
export const nodeKey = (nodeId: string): string => `node:${nodeId}`;

/** The key that the succession to a machine is: never released, so whoever decided on an older machine of the node comes too late. */
export const successionKey = (machineId: string): string => `succession:${machineId}`;

/** The stream of a machine. */
export const machineStream = (machineId: string): string => `machine-${machineId}`;

/** The id of the machine that a stream is about. */
export const machineIdOf = (stream: string): string => stream.slice('machine-'.length);

/** A credential was refused that this machine once registered: for the stream beside the machine's own (B7). */
export type NoteRefusal = {
  readonly type: 'NoteRefusal';
  readonly machine: string;
  readonly code: RefusedFor;
  readonly generation: number | null;
  /** SHA-256 of the credential that was presented, hex. */
  readonly keyHash: string;
  /** When the machine's newest check was recorded; null without one. */
  readonly lastAcceptedAt: Instant | null;
};

/** The stream of the refused uses of a machine's credentials. */
export const refusalsStream = (machineId: string): string => `refusals-${machineId}`;

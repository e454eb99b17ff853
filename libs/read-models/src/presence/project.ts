import { instantOf, type Instant } from '@rollcall/decider';
import type { RecordedFact } from '@rollcall/event-store';
import {
  DUPLICATE,
  isPlanesWord,
  type Labels,
  type MachineFact,
  type MachinePaused,
  type Said,
  type StopReason,
} from '@rollcall/machine';
import type { Rows } from '../rows.js';
import { standing, type StandingBlocker } from '../standing.js';
import { machineOf, understand, type Parked } from '../understand.js';

/**
 * What is known of one machine. Whether it is present is not in it: that depends on what the read model has heard since, so it
 * is computed when somebody asks, and a deaf plane or a stopped projector changes no row (B1).
 */
export type PresenceRow = {
  readonly machine: string;
  readonly node: string;
  /** The id of a person. */
  readonly owner: string;
  readonly name: string | null;
  readonly hostname: string | null;
  readonly agentVersion: string | null;
  readonly platform: string | null;
  readonly arch: string | null;
  /** The generation that has proved itself; null before the first check. */
  readonly generation: number | null;
  readonly admittedAt: Instant;
  readonly lastCheckAt: Instant | null;
  /** Seconds; as the last check put it in force. */
  readonly window: number | null;
  readonly said: Said | null;
  readonly stopReason: StopReason | null;
  /** Sorted by code. */
  readonly blockers: readonly StandingBlocker[];
  /** The stamp of the request for the tail of its log that waits for the upload (O26). */
  readonly logTailRequested: Instant | null;
  /** A person's request for a newer credential, until one of a later generation has succeeded (O19, N26). */
  readonly rotationRequested: { readonly stamp: Instant; readonly generation: number } | null;
  /** The generation that is registered and has not been used yet (N26). */
  readonly pendingGeneration: number | null;
  /** The refused claims on its identifier that are recorded, as one (C03). */
  readonly refusedClaims: RefusedClaimsRow | null;
  /** Since when an absence is recorded that no check has ended. */
  readonly absentSince: Instant | null;
  /** A person's pause, in force or over by its own expiry. */
  readonly pause: PauseRow | null;
  /** By key. */
  readonly labels: Labels;
  readonly deletedAt: Instant | null;
  readonly revision: number;
};

/** Others that had a right to join claimed the identifier of this machine; of many within a minute one is recorded. */
export type RefusedClaimsRow = {
  readonly count: number;
  readonly first: Instant;
  readonly last: Instant;
  /** What the last of them called itself. */
  readonly hostname: string | null;
};

/** A person's word that keeps a machine from work. */
export type PauseRow = {
  readonly since: Instant;
  readonly note: string;
  /** When it is over by itself. */
  readonly until: Instant | null;
  /** The id of a person. */
  readonly by: string;
};

/**
 * Applies one fact to the row of its machine. Facts of other categories change nothing.
 *
 * @returns what could not be used and why, or null
 */
export const project = (rows: Rows<PresenceRow>, recorded: RecordedFact): Parked | null => {
  const machine = machineOf(recorded);
  if (machine === null) return null;
  const { stream, revision } = recorded;
  const understood = understand(recorded);
  if (!understood.understood) return { stream, revision, reason: understood.reason, detail: understood.detail };
  const { fact } = understood;
  const row = rows.get(machine) ?? admitted(machine, recorded, fact);
  if (row === null) return { stream, revision, reason: 'not-admitted', detail: fact.type };
  rows.put(machine, { ...row, ...change(row, recorded, fact), revision });
  return null;
};

const admitted = (machine: string, recorded: RecordedFact, fact: MachineFact): PresenceRow | null =>
  fact.type !== 'MachineAdmitted'
    ? null
    : {
        machine,
        node: fact.nodeId,
        owner: fact.owner,
        name: fact.name,
        hostname: null,
        agentVersion: null,
        platform: null,
        arch: null,
        generation: null,
        admittedAt: recorded.recordedAt,
        lastCheckAt: null,
        window: null,
        said: null,
        stopReason: null,
        blockers: [],
        logTailRequested: null,
        rotationRequested: null,
        pendingGeneration: null,
        refusedClaims: null,
        absentSince: null,
        pause: null,
        labels: {},
        deletedAt: null,
        revision: recorded.revision,
      };

/** A pause that is given another note or expiry while it is in force goes on. */
const pausedBy = (before: PauseRow | null, recorded: RecordedFact, { note, until }: MachinePaused): PauseRow => {
  const goesOn = before !== null && (before.until === null || recorded.recordedAt < before.until);
  return {
    since: goesOn ? before.since : recorded.recordedAt,
    note,
    until: until === null ? null : instantOf(until),
    by: recorded.kind === 'event' ? recorded.actor.id : '',
  };
};

const codesOf = ({ blockers }: PresenceRow): readonly string[] => blockers.map(({ code }) => code);

const blockersWithout = ({ blockers }: PresenceRow, wanted: string): Partial<PresenceRow> =>
  blockers.some(({ code }) => code === wanted) ? { blockers: blockers.filter(({ code }) => code !== wanted) } : {};

const change = (row: PresenceRow, recorded: RecordedFact, fact: MachineFact): Partial<PresenceRow> => {
  const { recordedAt } = recorded;
  switch (fact.type) {
    case 'CheckedIn':
      // The newest word replaces the one before: who checks again after a goodbye is running, and no marker stays (C18).
      return {
        lastCheckAt: recordedAt,
        window: fact.window,
        said: fact.said,
        stopReason: fact.reason,
        absentSince: null,
      };
    case 'GenerationConfirmed':
      // Whoever else held a key before is left behind, so no copy stands.
      return {
        generation: fact.generation,
        pendingGeneration: row.pendingGeneration === fact.generation ? null : row.pendingGeneration,
        ...(row.rotationRequested !== null && fact.generation > row.rotationRequested.generation
          ? { rotationRequested: null }
          : {}),
        ...blockersWithout(row, DUPLICATE),
      };
    case 'GenerationRegistered':
      return { pendingGeneration: fact.generation };
    case 'PendingVoided':
      return row.pendingGeneration === fact.generation ? { pendingGeneration: null } : {};
    case 'RotationRequested':
      return { rotationRequested: { stamp: instantOf(fact.stamp), generation: fact.generation } };
    case 'ClaimRefused':
      return {
        refusedClaims: {
          count: (row.refusedClaims?.count ?? 0) + 1,
          first: row.refusedClaims?.first ?? recordedAt,
          last: recordedAt,
          hostname: fact.hostname,
        },
      };
    case 'CredentialForked':
      return { blockers: standing(row.blockers, [...codesOf(row), DUPLICATE], recordedAt) };
    case 'NameAdopted':
      // A name that a person gave is never taken back by a machine's (O24).
      return { name: row.name ?? fact.name };
    case 'MachineRenamed':
      return { name: fact.name };
    case 'SelfReportChanged':
      return { hostname: fact.hostname, agentVersion: fact.agentVersion, platform: fact.platform, arch: fact.arch };
    case 'BlockersChanged':
      return {
        blockers: standing(
          row.blockers,
          // A machine says nothing about what the plane itself knows, and does not end it either.
          [...fact.blockers.filter((code) => !isPlanesWord(code)), ...codesOf(row).filter(isPlanesWord)],
          recordedAt,
        ),
      };
    case 'LogTailRequested':
      return { logTailRequested: instantOf(fact.stamp) };
    case 'LogTailReceived':
      // Only its own echo clears a request (O26).
      return row.logTailRequested === instantOf(fact.stamp) ? { logTailRequested: null } : {};
    case 'WentAbsent':
      return { absentSince: instantOf(fact.dueAt) };
    case 'Returned':
      return { absentSince: null };
    case 'MachinePaused':
      return { pause: pausedBy(row.pause, recorded, fact) };
    case 'MachineResumed':
      return { pause: null };
    case 'LabelsChanged':
      return { labels: fact.labels };
    case 'MachineDeleted':
      return {
        logTailRequested: null,
        rotationRequested: null,
        pendingGeneration: null,
        refusedClaims: null,
        pause: null,
        deletedAt: recordedAt,
      };
    case 'MachineAdmitted':
    case 'AgentStarted':
    // The check that carries the goodbye says the same, at the same time.
    case 'StopAnnounced':
      return {};
  }
};

import {
  type ClaimChange,
  type Decider,
  type Instant,
  instantOf,
  type Moment,
  Refusal,
  timestampOf,
} from '@rollcall/decider';
import { type Absence, absence, absenceDue } from './absence.js';
import { type Boots, bootRecord, boots, isRepetition } from './boots.js';
import { checkIn, type CheckIns } from './check-in.js';
import {
  type AcceptCheck,
  type AdmitMachine,
  credentialKey,
  identifierKey,
  type MachineCommand,
  nodeKey,
  redemptionKey,
  type Succeeded,
  successionKey,
} from './commands.js';
import { copies, type Copies } from './copies.js';
import { type Credential, credential } from './credential.js';
import { type Enrolment, enrolment } from './enrolment.js';
import type { Boot, MachineFact, SelfReport } from './facts.js';
import { type Labels, labels } from './labels.js';
import { type LastWord, lastWord } from './lifecycle.js';
import { type Name, naming } from './naming.js';
import { type Pause, pause } from './pause.js';
import { type Blockers, readiness } from './readiness.js';
import { refusedClaims, type RefusedClaims } from './refused-claims.js';
import { requests, type Requests } from './requests.js';
import { selfReport } from './self-report.js';

/** Everything that the rules of one machine remember; plain JSON, each part owned by one rule. */
export type MachineState = {
  readonly enrolment: Enrolment | null;
  readonly credential: Credential;
  readonly name: Name;
  readonly report: SelfReport;
  readonly blockers: Blockers;
  readonly lastWord: LastWord;
  readonly boots: Boots;
  readonly checkIns: CheckIns;
  /**
   * Absent on heads that were folded before there were requests. Nothing could ask then, so such a machine has none, and its head needs no
   * new fold. (The migration that brings requests is a breaking one: no older instance writes a head without them afterwards.)
   */
  readonly requests?: Requests;
  /** These are absent on heads that were folded before they existed, for the same reasons. */
  readonly absence?: Absence;
  readonly pause?: Pause;
  readonly labels?: Labels;
  readonly copies?: Copies;
  /** Absent as long as nobody was refused. */
  readonly refusedClaims?: NonNullable<RefusedClaims>;
};

const requestsOf = (state: MachineState): Requests => state.requests ?? requests.initial();
const absenceOf = (state: MachineState): Absence => state.absence ?? absence.initial();
const pauseOf = (state: MachineState): Pause => state.pause ?? pause.initial();
const labelsOf = (state: MachineState): Labels => state.labels ?? labels.initial();
const copiesOf = (state: MachineState): Copies => state.copies ?? copies.initial();

const isLiving = (state: MachineState): boolean => state.enrolment !== null && !state.enrolment.deleted;

/** @throws Refusal for a machine that nobody can ask anything of. */
const requireLiving = (state: MachineState): void => {
  if (!isLiving(state)) throw new Refusal('machine-not-found');
};

const evolve = (state: MachineState, fact: MachineFact): MachineState => {
  const next = evolved(state, fact);
  const refused = refusedClaims.evolve(state.refusedClaims ?? null, fact);
  return refused ? { ...next, refusedClaims: refused } : next;
};

const evolved = (state: MachineState, fact: MachineFact): MachineState => ({
  enrolment: enrolment.evolve(state.enrolment, fact),
  credential: credential.evolve(state.credential, fact),
  name: naming.evolve(state.name, fact),
  report: selfReport.evolve(state.report, fact),
  blockers: readiness.evolve(state.blockers, fact),
  lastWord: lastWord.evolve(state.lastWord, fact),
  boots: boots.evolve(state.boots, fact),
  checkIns: checkIn.evolve(state.checkIns, fact),
  requests: requests.evolve(requestsOf(state), fact),
  absence: absence.evolve(absenceOf(state), fact),
  pause: pause.evolve(pauseOf(state), fact),
  labels: labels.evolve(labelsOf(state), fact),
  copies: copies.evolve(copiesOf(state), fact),
});

type Step = (state: MachineState) => readonly MachineFact[];

/** Asks rules in turn, each on what the ones before have decided. */
const inTurn = (state: MachineState, ...steps: readonly Step[]): readonly MachineFact[] => {
  const facts: MachineFact[] = [];
  let current = state;
  for (const [index, step] of steps.entries()) {
    const decided = step(current);
    facts.push(...decided);
    // Nobody decides on the result of the last one.
    if (index + 1 < steps.length) current = decided.reduce(evolve, current);
  }
  return facts;
};

const acceptCheck = (state: MachineState, check: AcceptCheck, moment: Moment): readonly MachineFact[] => {
  const confirmed = credential.decide(state.credential, check, moment);
  if (isRepetition(state.boots, check)) return [];
  return inTurn(
    state,
    () => confirmed,
    (at) => absence.decide(absenceOf(at), check, moment),
    (at) => boots.decide(at.boots, check, moment),
    (at) => naming.decide(at.name, check, moment),
    (at) => selfReport.decide(at.report, check, moment),
    (at) => readiness.decide(at.blockers, check, moment),
    (at) => lastWord.decide(at.lastWord, check, moment),
    (at) => copies.decide(copiesOf(at), { ...check, ...presentedBy(at), before: at.checkIns }, moment),
    (at) => checkIn.decide(at.checkIns, { ...check, ...presentedBy(at) }, moment),
  );
};

/** The labels of the node, which its next machine carries; its name is in the admission (N19). */
const handedOn = (state: MachineState, { succeeds }: AdmitMachine, moment: Moment): readonly MachineFact[] =>
  succeeds ? labels.decide(labelsOf(state), { type: 'SetLabels', set: succeeds.labels, remove: [] }, moment) : [];

/** What a node's newest machine hands on to the next; null while it lives, or where there is none (ADR 23). */
export const handingOn = (state: MachineState): (Succeeded & { readonly owner: string }) | null => {
  const { enrolment: of } = state;
  if (!of?.deleted) return null;
  return { machineId: of.machine, owner: of.owner, name: state.name?.value ?? null, labels: labelsOf(state) };
};

/** Whose check it is. A key that was accepted is the current one by now, or its success has just made it that. */
const presentedBy = ({
  enrolment: of,
  credential: { current },
}: MachineState): { machine: string; generation: number } => {
  if (!of || !current) throw new Error('a check was accepted on a stream without a machine');
  return { machine: of.machine, generation: current.generation };
};

/** The rules of one machine's stream: credential, order of checks, naming, report, readiness, last word, copies, window and chain, requests. */
export const machine: Decider<MachineState, MachineCommand, MachineFact> = {
  fold: 1,

  initial: () => ({
    enrolment: enrolment.initial(),
    credential: credential.initial(),
    name: naming.initial(),
    report: selfReport.initial(),
    blockers: readiness.initial(),
    lastWord: lastWord.initial(),
    boots: boots.initial(),
    checkIns: checkIn.initial(),
    requests: requests.initial(),
    absence: absence.initial(),
    pause: pause.initial(),
    labels: labels.initial(),
    copies: copies.initial(),
  }),

  decide(state, command, moment) {
    switch (command.type) {
      case 'AdmitMachine': {
        const admitted = enrolment.decide(state.enrolment, command, moment);
        if (admitted.length === 0) return [];
        return [
          ...admitted,
          ...credential.decide(state.credential, command, moment),
          ...selfReport.decide(state.report, command, moment),
          ...handedOn(state, command, moment),
        ];
      }
      case 'AcceptCheck':
        return acceptCheck(state, command, moment);
      case 'StartRotation':
        return credential.decide(state.credential, command, moment);
      case 'RenameMachine':
        requireLiving(state);
        return naming.decide(state.name, command, moment);
      case 'RequestLogTail':
        requireLiving(state);
        return requests.decide(requestsOf(state), command, moment);
      case 'RequestRotation':
        requireLiving(state);
        // Both copies would hear of it, and the quicker one would stay: only a person at a machine knows which is the right one (B2).
        if (copiesOf(state)) throw new Refusal('duplicate-installation');
        return requests.decide(requestsOf(state), { ...command, generation: state.credential.highest }, moment);
      case 'ReceiveLogTail':
        return inTurn(
          state,
          (at) => credential.decide(at.credential, command, moment),
          (at) => requests.decide(requestsOf(at), command, moment),
        );
      case 'NoteSilence':
        if (!isLiving(state)) return [];
        return absence.decide(
          absenceOf(state),
          { ...command, window: state.checkIns.window, stopReason: state.lastWord?.reason ?? null },
          moment,
        );
      case 'PauseMachine':
      case 'ResumeMachine':
        requireLiving(state);
        return pause.decide(pauseOf(state), command, moment);
      case 'SetLabels':
        requireLiving(state);
        return labels.decide(labelsOf(state), command, moment);
      case 'NoteRefusedClaim':
        requireLiving(state);
        return refusedClaims.decide(state.refusedClaims ?? null, command, moment);
      case 'DeleteMachine':
        return enrolment.decide(state.enrolment, command, moment);
    }
  },

  evolve,

  claims(fact): readonly ClaimChange[] {
    switch (fact.type) {
      case 'MachineAdmitted':
        return [
          { op: 'take', key: redemptionKey(fact.token) },
          { op: 'take', key: identifierKey(fact.identifierHash) },
          { op: 'take', key: nodeKey(fact.nodeId) },
          ...(fact.succeeds === undefined ? [] : [{ op: 'take', key: successionKey(fact.succeeds) } as const]),
        ];
      case 'GenerationRegistered':
        // Never released, so that a revoked or retired key stays known as such (O20).
        return [{ op: 'take', key: credentialKey(fact.keyHash) }];
      case 'MachineDeleted':
        return [
          { op: 'release', key: identifierKey(fact.identifierHash) },
          ...(fact.nodeId === undefined ? [] : [{ op: 'release', key: nodeKey(fact.nodeId) } as const]),
        ];
      default:
        return [];
    }
  },
};

/**
 * When the machine becomes absent if nothing more is heard of it, as far as a watcher knows of the plane's own gaps; null where there is
 * nothing to wait for: not yet arrived, absent already, or deleted.
 */
export const dueForAbsence = (
  state: MachineState,
  heard: { readonly lastCheckAt: Instant | null; readonly gapEnd: Instant | null },
): Instant | null =>
  isLiving(state) ? absenceDue({ absence: absenceOf(state), window: state.checkIns.window }, heard) : null;

/** How old a generation may become before its machine is asked for a newer one. */
export type RotationPolicy = {
  /** null: as old as it likes. */
  readonly afterDays: number | null;
  /** Since when whoever answers has had this policy, by the record's time: what was too old already is spread over the time that follows. */
  readonly since: Instant;
};

const DAY_MS = 86_400_000;
const HOUR_MS = 3_600_000;
/** The share of an age over which machines of one age are spread. */
const SPREAD = 0.1;

/** A number of a machine's own from 0 to below 1, always the same (FNV-1a): what makes machines of one age take their turns. */
export const turnOf = (machineId: string): number => {
  let hash = 0x81_1c_9d_c5;
  for (const character of machineId) hash = Math.imul(hash ^ (character.codePointAt(0) ?? 0), 0x01_00_01_93);
  return (hash >>> 0) / 2 ** 32;
};

/**
 * The stamp of the rotation that an answer asks for: a person's request, or that of the current generation's age. Nothing is recorded for the
 * latter, and nobody is refused for it: a node that was away for a year checks in with its old key, and is asked then (N26). A generation from
 * before the record said when it was registered is older than any policy.
 *
 * While a copy stands nobody is asked: both would be, and the first one's success would leave the other behind, whichever is the right one (B2).
 *
 * A fleet that was set up on one day is asked over the last tenth of the age, each machine at its own time; and what is too old when the policy
 * begins, over the hour after that.
 */
export const rotationAsked = (
  state: MachineState,
  { afterDays, since }: RotationPolicy,
  now: Instant,
): string | null => {
  if (copiesOf(state)) return null;
  const { current } = state.credential;
  const asked = requestsOf(state).rotation?.stamp;
  if (asked !== undefined) return asked;
  if (afterDays === null || current === null) return null;
  const turn = turnOf(presentedBy(state).machine);
  const age = afterDays * DAY_MS;
  const due = Math.floor(instantOf(current.registeredAt ?? timestampOf(0)) + age * (1 - SPREAD * turn));
  return now >= Math.max(due, since + turn * HOUR_MS) ? timestampOf(due) : null;
};

/** What the answer to an accepted check says. The same for a repetition of that check, but for what is asked meanwhile. */
export type CheckAnswerContent = {
  readonly machine: string;
  readonly owner: string;
  readonly name: string | null;
  readonly generation: number;
  /** Seconds until the next check. */
  readonly interval: number;
  /** The number of the chain token to issue. 0, which no check-in issues, when a repetition meets a head that was folded anew. */
  readonly chain: number;
  /** The stamp of the request that waits for the tail of the log; it rides on every answer until its upload echoes it (O26). */
  readonly logTail: string | null;
};

/** Reads the answer to the newest check of a boot out of the state after it. */
export const answerTo = (state: MachineState, boot: Boot): CheckAnswerContent => {
  const record = bootRecord(state.boots, boot);
  if (!record || !state.enrolment) throw new Error('there is no check of this boot to answer');
  return {
    ...presentedBy(state),
    owner: state.enrolment.owner,
    name: state.name?.value ?? null,
    interval: record.interval,
    chain: record.chain ?? state.checkIns.chain?.cur.number ?? 0,
    logTail: requestsOf(state).logTail,
  };
};

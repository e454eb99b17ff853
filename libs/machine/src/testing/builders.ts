import type { AcceptCheck, AdmitMachine } from '../commands.js';
import type {
  AgentStarted,
  Boot,
  CheckedIn,
  CredentialForked,
  GenerationConfirmed,
  GenerationRegistered,
  LabelsChanged,
  LogTailReceived,
  LogTailRequested,
  MachineAdmitted,
  MachineDeleted,
  MachinePaused,
  PendingVoided,
  Returned,
  RotationRequested,
  SelfReport,
  WentAbsent,
} from '../facts.js';

/** The machine of most tests. */
export const MACHINE_ID = '0192f0c4-0000-7000-8000-000000000001';

/** A boot of the agent; its random id follows from the counter unless it is given. */
export const boot = (counter = 1, id = counter.toString(16).padStart(8, '0')): Boot => ({ counter, id });

/** The hash of generation n's key, as far as tests care. */
export const keyHash = (generation: number): string => generation.toString(16).padStart(64, '0');

/** A check id that follows from boot and sequence. */
export const checkIdOf = ({ id }: Boot, sequence: number): string =>
  `${id}-0000-4000-8000-${sequence.toString(16).padStart(12, '0')}`;

/** A report of nothing. */
export const NO_REPORT: SelfReport = { hostname: null, agentVersion: null, platform: null, arch: null };

/** A command that redeems a token, valid for an hour from 2026-01-01T12:00Z. A machine that is named has a node of its own. */
export const admit = (over: Partial<AdmitMachine> = {}): AdmitMachine => ({
  type: 'AdmitMachine',
  machineId: MACHINE_ID,
  nodeId: over.machineId ?? 'node-1',
  token: { id: 'token-1', expiresAt: Date.UTC(2026, 0, 1, 13), owner: 'person-1', name: null },
  identifierHash: 'identifier-1',
  keyHash: keyHash(1),
  report: NO_REPORT,
  ...over,
});

/** A command for a check: the first of boot 1, running, with nothing to tell. */
export const check = (over: Partial<AcceptCheck> = {}): AcceptCheck => {
  const { boot: of = boot(), sequence = 1 } = over;
  return {
    type: 'AcceptCheck',
    keyHash: keyHash(1),
    boot: of,
    sequence,
    checkId: checkIdOf(of, sequence),
    said: 'running',
    reason: null,
    blockers: null,
    notProbed: [],
    name: null,
    report: {},
    chain: null,
    policy: { interval: 30, windowFloor: 120 },
    ...over,
  };
};

/** The admission of the machine of most tests. */
export const admitted = (over: Partial<MachineAdmitted> = {}): MachineAdmitted => ({
  type: 'MachineAdmitted',
  machine: MACHINE_ID,
  nodeId: 'node-1',
  owner: 'person-1',
  token: 'token-1',
  name: null,
  identifierHash: 'identifier-1',
  ...over,
});

/** A key that was registered, at noon of 2026-01-01 unless told otherwise; null: of a record that does not say when. */
export const registered = (
  generation: number,
  hash = keyHash(generation),
  registeredAt: string | null = '2026-01-01T12:00:00.000Z',
): GenerationRegistered => ({
  type: 'GenerationRegistered',
  generation,
  keyHash: hash,
  ...(registeredAt === null ? {} : { registeredAt }),
});

/** A key that was not used in time. */
export const voided = (generation: number): PendingVoided => ({ type: 'PendingVoided', generation });

/** A person's request for a newer generation than this one. */
export const rotationRequested = (stamp: string, generation: number): RotationRequested => ({
  type: 'RotationRequested',
  stamp,
  generation,
});

/** A generation that has succeeded once. */
export const confirmed = (generation: number): GenerationConfirmed => ({ type: 'GenerationConfirmed', generation });

/** The sign of a copy, noticed at noon. */
export const forked = (over: Partial<CredentialForked> = {}): CredentialForked => ({
  type: 'CredentialForked',
  generation: 1,
  boot: boot(),
  noticedAt: '2026-01-01T12:00:00.000Z',
  ...over,
});

/** The start of a boot. */
export const started = (of: Boot = boot()): AgentStarted => ({ type: 'AgentStarted', boot: of });

/** A check-in as the record returns it: without the chain, unless it is given. */
export const checkedIn = (over: Partial<CheckedIn> = {}): CheckedIn => {
  const { boot: of = boot(), sequence = 1 } = over;
  return {
    type: 'CheckedIn',
    machine: MACHINE_ID,
    generation: 1,
    boot: of,
    sequence,
    checkId: checkIdOf(of, sequence),
    said: 'running',
    reason: null,
    interval: 30,
    window: 120,
    ...over,
  };
};

/** A request for the tail of the log. */
export const logTailRequested = (stamp: string): LogTailRequested => ({ type: 'LogTailRequested', stamp });

/** The upload that answered one. */
export const logTailReceived = (stamp: string): LogTailReceived => ({ type: 'LogTailReceived', stamp });

/** A silence that became an absence: the last check at noon, noticed when its window of 120 s was over. */
export const wentAbsent = (over: Partial<WentAbsent> = {}): WentAbsent => ({
  type: 'WentAbsent',
  lastCheckAt: '2026-01-01T12:00:00.000Z',
  dueAt: '2026-01-01T12:02:00.000Z',
  window: 120,
  stopReason: null,
  ...over,
});

/** The end of a silence. */
export const returned = (absentFor: number): Returned => ({ type: 'Returned', absentFor });

/** A person's pause. */
export const paused = (note: string, until: string | null = null): MachinePaused => ({
  type: 'MachinePaused',
  note,
  until,
});

/** What is attached to a node, as a whole. */
export const labelled = (labels: { readonly [key: string]: string }): LabelsChanged => ({
  type: 'LabelsChanged',
  labels,
});

/** The deletion of a machine. */
export const deleted = (identifierHash = 'identifier-1', nodeId = 'node-1'): MachineDeleted => ({
  type: 'MachineDeleted',
  identifierHash,
  nodeId,
});

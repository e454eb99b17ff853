import { instantOf } from '@rollcall/decider';
import type { LedgerEvent, RecordedFact } from '@rollcall/event-store';
import { STOP_REASONS, type CheckedIn, type MachineEvent, type MachineFact } from '@rollcall/machine';

/** Why a fact could not be used. A closed list, so that parked facts can be counted by it. */
export type ParkReason = 'body-unreadable' | 'unknown-type' | 'wrong-shape' | 'not-admitted' | 'not-storable';

/** A fact that a projection could not use: it is set aside and counted, and the projection goes on. */
export type Parked = {
  readonly stream: string;
  readonly revision: number;
  readonly reason: ParkReason;
  /** For the person who looks into it; never holds the fact's content. */
  readonly detail: string;
};

/** A machine's fact as this version of the rules knows it, or why it does not. */
export type Understood<Fact extends MachineFact = MachineFact> =
  | { readonly understood: true; readonly fact: Fact }
  | { readonly understood: false; readonly reason: ParkReason; readonly detail: string };

type Check = (value: unknown) => boolean;

// What Postgres cannot store as text would fail the whole transaction, so it is refused here, where it costs one fact.
const text: Check = (value) => typeof value === 'string' && !value.includes('\0') && !/\p{Surrogate}/u.test(value);
const textOrNull: Check = (value) => value === null || text(value);
const count: Check = (value) => Number.isInteger(value) && (value as number) >= 0 && (value as number) < 2 ** 31;
const texts: Check = (value) => Array.isArray(value) && value.every(text);
const timestamp: Check = (value) => typeof value === 'string' && !Number.isNaN(instantOf(value));
const stopReason: Check = (value) => (STOP_REASONS as readonly unknown[]).includes(value);
const stopReasonOrNull: Check = (value) => value === null || stopReason(value);
const timestampOrNull: Check = (value) => value === null || timestamp(value);
const optional =
  (check: Check): Check =>
  (value) =>
    value === undefined || check(value);
const textByKey: Check = (value) =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && Object.entries(value).flat().every(text);
const boot: Check = (value) =>
  typeof value === 'object' &&
  value !== null &&
  'counter' in value &&
  count(value.counter) &&
  'id' in value &&
  text(value.id);

type Shape<Fact> = { readonly [Field in Exclude<keyof Fact, 'type'>]-?: Check };
type EventShapes = { readonly [Type in MachineEvent['type']]: Shape<Extract<MachineEvent, { type: Type }>> };

const EVENTS: EventShapes = {
  MachineAdmitted: {
    machine: text,
    nodeId: text,
    owner: text,
    token: text,
    name: textOrNull,
    identifierHash: text,
    succeeds: optional(text),
    via: optional(text),
  },
  GenerationRegistered: { generation: count, keyHash: text, registeredAt: optional(timestamp) },
  GenerationConfirmed: { generation: count },
  CredentialForked: { generation: count, boot, noticedAt: timestamp },
  PendingVoided: { generation: count },
  RotationRequested: { stamp: timestamp, generation: count },
  AgentStarted: { boot },
  NameAdopted: { name: text },
  MachineRenamed: { name: text },
  SelfReportChanged: { hostname: textOrNull, agentVersion: textOrNull, platform: textOrNull, arch: textOrNull },
  StopAnnounced: { reason: stopReason },
  BlockersChanged: { blockers: texts },
  LogTailRequested: { stamp: timestamp },
  LogTailReceived: { stamp: timestamp },
  WentAbsent: { lastCheckAt: timestamp, dueAt: timestamp, window: count, stopReason: stopReasonOrNull },
  Returned: { absentFor: count },
  MachinePaused: { note: text, until: timestampOrNull },
  MachineResumed: {},
  LabelsChanged: { labels: textByKey },
  ClaimRefused: { noticedAt: timestamp, token: text, hostname: textOrNull },
  MachineDeleted: { identifierHash: text, nodeId: optional(text) },
};

const CHECK_IN: Pick<Shape<CheckedIn>, 'said' | 'reason' | 'window'> = {
  said: (value) => value === 'running' || value === 'stopping',
  reason: stopReasonOrNull,
  window: count,
};

const wrongFields = (
  shape: { readonly [field: string]: Check },
  value: { readonly [field: string]: unknown },
): string[] => Object.keys(shape).filter((field) => !shape[field]!(value[field]));

/**
 * Reads a recorded fact of a machine. What is recorded is a fact, whatever this version makes of it: an event that does not
 * parse, is of an unknown type or has the wrong shape is answered as such and never thrown at.
 */
export const understand = (recorded: RecordedFact): Understood => {
  if (recorded.kind === 'check-in') {
    const wrong = wrongFields(CHECK_IN, recorded.checkIn);
    if (wrong.length > 0) return { understood: false, reason: 'wrong-shape', detail: `check-in: ${wrong.join(', ')}` };
    return { understood: true, fact: recorded.checkIn };
  }
  return understandEvent(recorded.event.type, recorded.body);
};

/**
 * Reads a ledger event of a machine by its type and the recorded bytes of its body.
 */
export const understandEvent = (type: string, recordedBody: string): Understood<MachineEvent> => {
  if (!Object.hasOwn(EVENTS, type)) return { understood: false, reason: 'unknown-type', detail: type };
  const body = bodyOf(recordedBody);
  if (body === null) return { understood: false, reason: 'body-unreadable', detail: type };
  const wrong = wrongFields(EVENTS[type as MachineEvent['type']], body);
  if (wrong.length > 0) return { understood: false, reason: 'wrong-shape', detail: `${type}: ${wrong.join(', ')}` };
  return { understood: true, fact: { ...body, type } as MachineEvent };
};

/** The recorded bytes of a body as an object; null where they are none. */
export const bodyOf = (recorded: string): Omit<LedgerEvent, 'type'> | null => {
  try {
    const body: unknown = JSON.parse(recorded);
    return typeof body === 'object' && body !== null && !Array.isArray(body)
      ? (body as Omit<LedgerEvent, 'type'>)
      : null;
  } catch {
    return null;
  }
};

/** The machine that a fact is about; null for facts of other categories. */
export const machineOf = (recorded: RecordedFact): string | null =>
  recorded.stream.startsWith('machine-') ? recorded.stream.slice('machine-'.length) : null;

import { instantOf, timestampOf, type Instant, type Json } from '@rollcall/decider';
import type { LedgerEvent, RecordedEvent } from '@rollcall/event-store';
import {
  blockerOf,
  DUPLICATE,
  machineIdOf,
  machineStream,
  type CredentialRefused,
  type MachineEvent,
} from '@rollcall/machine';
import type { Subscribable } from '@rollcall/webhook-endpoint';

/** The `type` of a notice. The test is sent to whoever asks for it, subscribed or not. */
export type NoticeType = Subscribable | 'webhook.test';

/** Something that an owner of machines can be told, before anybody looks who wants to know. */
export type Notice = {
  readonly type: NoticeType;
  /** The id of the person. */
  readonly owner: string;
  /** The event's own id: the `webhook-id` of every attempt. */
  readonly eventId: string;
  /** null: it is about no single machine. */
  readonly machine: string | null;
  /** As it was called when it happened, clipped to what is shown. */
  readonly name: string | null;
  /** The revision in its stream. */
  readonly sequence: number;
  readonly occurredAt: Instant;
  /** Less than 20 KiB. */
  readonly body: string;
  /** Of a silence: whether it breaks a promise (N11). null: it is no silence. */
  readonly promised: boolean | null;
};

/** What an event does not say itself of the machine that it is about: what its earlier events come to. */
export type KnownMachine = {
  /** null before its admission. */
  readonly owner: string | null;
  readonly name: string | null;
  /** Whether something that blocks work stands by the machine's own word. */
  readonly blocked: boolean;
  /** Whether the sign of a copy stands. */
  readonly forked: boolean;
};

/** Nothing is known yet. */
export const UNKNOWN: KnownMachine = { owner: null, name: null, blocked: false, forked: false };

/** The events that `learn` looks at. */
export const LEARNT: readonly MachineEvent['type'][] = [
  'MachineAdmitted',
  'NameAdopted',
  'MachineRenamed',
  'BlockersChanged',
  'CredentialForked',
  'GenerationConfirmed',
];

/** What is known after an event. One that it cannot read changes nothing. */
export const learn = (known: KnownMachine, event: LedgerEvent): KnownMachine => {
  switch (event.type) {
    case 'MachineAdmitted':
      return { ...known, owner: textOr(null, event['owner']), name: textOr(null, event['name']) };
    case 'NameAdopted':
    case 'MachineRenamed':
      return { ...known, name: textOr(known.name, event['name']) };
    case 'BlockersChanged':
      return { ...known, blocked: blocking(event).length > 0 };
    case 'CredentialForked':
      return { ...known, forked: true };
    case 'GenerationConfirmed':
      return { ...known, forked: false };
    default:
      return known;
  }
};

const REFUSALS = 'refusals-';

/** The stream of the machine that an event is about: its own, or the one of its refused credentials beside it. */
export const machineStreamOf = (stream: string): string =>
  stream.startsWith(REFUSALS) ? machineStream(stream.slice(REFUSALS.length)) : stream;

/** The types of notice that an event of a machine may yield; which one, and whether any, says {@link noticeOf}. */
export const TYPES_OF: Readonly<Partial<Record<string, readonly Subscribable[]>>> = {
  MachineAdmitted: ['machine.admitted'],
  WentAbsent: ['machine.absent', 'machine.stopped', 'fleet.silence'],
  // Its end is looked at also where nobody is told of it: the absence may be held back (B4).
  Returned: ['machine.returned', 'machine.absent', 'fleet.silence'],
  BlockersChanged: ['machine.blocked'],
  CredentialForked: ['machine.blocked'],
  GenerationConfirmed: ['credential.rotated'],
  CredentialRefused: ['credential.refused'],
  MachineDeleted: ['machine.deleted', 'machine.absent', 'fleet.silence'],
} satisfies Partial<Record<(MachineEvent | CredentialRefused)['type'], readonly Subscribable[]>>;

/**
 * What an event of a machine is told as, if it is told at all. `known`: as of just before it. An event that this version cannot read is told
 * to nobody: a half-empty notice would be taken for a fact.
 */
export const noticeOf = (known: KnownMachine, recorded: RecordedEvent): Notice | null => {
  const { event } = recorded;
  const told = toldOf(known, event);
  const now = learn(known, event);
  if (told === null || now.owner === null) return null;
  const machine = machineIdOf(machineStreamOf(recorded.stream));
  const name = now.name === null ? null : clipped(now.name);
  const { type, data, silence = false } = told;
  return {
    ...sealed(recorded, type, {
      machine,
      name,
      ...placeOf(recorded),
      ...data,
    }),
    owner: now.owner,
    machine,
    name,
    // Until somebody has looked whether it breaks one.
    promised: silence ? false : null,
  };
};

/** What a person gets who wants to see a notice arrive. */
export const testNotice = (recorded: RecordedEvent, endpoint: string, owner: string): Notice => ({
  ...sealed(recorded, 'webhook.test', { machine: null, name: null, ...placeOf(recorded), webhook: endpoint }),
  owner,
  machine: null,
  name: null,
  promised: null,
});

type Data = { readonly [field: string]: Json };
type Told = { readonly type: Subscribable; readonly data: Data; readonly silence?: true };

const toldOf = (known: KnownMachine, event: LedgerEvent): Told | null => {
  switch (event.type) {
    case 'MachineAdmitted':
      return { type: 'machine.admitted', data: {} };
    case 'MachineDeleted':
      return { type: 'machine.deleted', data: { lifecycle: 'deleted' } };
    case 'WentAbsent':
      return silenceOf(event);
    case 'Returned': {
      const { absentFor } = event;
      return isCount(absentFor) ? { type: 'machine.returned', data: { absentFor }, silence: true } : null;
    }
    case 'BlockersChanged': {
      const codes = blocking(event);
      // From none to some: a second one is no news to somebody who was called for the first.
      if (known.blocked || known.forked || codes.length === 0) return null;
      return { type: 'machine.blocked', data: { blockers: codes.slice(0, MOST_BLOCKERS).map(blockerIn) } };
    }
    case 'CredentialForked':
      // Whoever was called for a full disk has not been told that a credential was copied. The signals that follow are no news.
      return known.forked ? null : { type: 'machine.blocked', data: { blockers: [blockerIn(DUPLICATE)] } };
    case 'GenerationConfirmed': {
      const { generation } = event;
      // The first is the machine's arrival, and no rotation.
      return isCount(generation) && generation > 1 ? { type: 'credential.rotated', data: { generation } } : null;
    }
    case 'CredentialRefused': {
      const { code, generation, lastAcceptedAt, refusedAt } = event;
      if (typeof code !== 'string' || !isTime(refusedAt)) return null;
      const data = { code, generation: isCount(generation) ? generation : null, refusedAt };
      return {
        type: 'credential.refused',
        data: { ...data, lastAcceptedAt: isTime(lastAcceptedAt) ? lastAcceptedAt : null },
      };
    }
    default:
      return null;
  }
};

const silenceOf = ({ lastCheckAt, dueAt, window, stopReason }: LedgerEvent): Told | null => {
  if (!isTime(lastCheckAt) || !isTime(dueAt) || !isCount(window)) return null;
  const data = { lastCheckAt, dueAt, window };
  // It had said that it would stop: the silence is the end of that, and no riddle (O17, O23).
  if (typeof stopReason === 'string')
    return { type: 'machine.stopped', data: { ...data, lifecycle: 'stopped', reason: stopReason }, silence: true };
  return { type: 'machine.absent', data: { ...data, lifecycle: 'unknown' }, silence: true };
};

/** They keep a body below what may be sent, also where each character is escaped. */
const MOST_BLOCKERS = 16;
const LONGEST = 64;

const blockerIn = (code: string): Data => {
  const { sentence, fix } = blockerOf(code);
  return { code: clipped(code), sentence, fix };
};

const blocking = ({ blockers }: LedgerEvent): readonly string[] =>
  (Array.isArray(blockers) ? blockers : [])
    .filter((code): code is string => typeof code === 'string')
    .filter((code) => blockerOf(code).blocksWork);

const clipped = (text: string): string => Array.from(text).slice(0, LONGEST).join('');

const textOr = <Otherwise>(otherwise: Otherwise, value: Json | undefined): string | Otherwise =>
  typeof value === 'string' ? value : otherwise;

const isTime = (value: Json | undefined): value is string =>
  typeof value === 'string' && !Number.isNaN(instantOf(value));

const isCount = (value: Json | undefined): value is number => Number.isSafeInteger(value) && (value as number) >= 0;

/** Its place among the facts of the machine, and among all ledger events; the latter may exceed 2^53, so it is a text. */
const placeOf = ({ revision, position }: RecordedEvent): Data => ({ sequence: revision, position: String(position) });

const sealed = ({ eventId, revision, recordedAt }: RecordedEvent, type: NoticeType, data: Data) => ({
  type,
  eventId,
  sequence: revision,
  occurredAt: recordedAt,
  body: JSON.stringify({ type, timestamp: timestampOf(recordedAt), data }),
});

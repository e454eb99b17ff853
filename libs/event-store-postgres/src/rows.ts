import {
  ledgerEventOf,
  type Actor,
  type AppendItem,
  type RecordedCheckIn,
  type RecordedEvent,
} from '@rollcall/event-store';
import { machineStream, STOP_REASONS, type CheckedIn } from '@rollcall/machine';
import { booleans, integers, smallints, texts, uuids } from './binary-arrays.js';
import { timestampOf } from './connection.js';

export type EventRow = {
  readonly position: bigint;
  readonly batch: bigint;
  readonly stream: string;
  readonly revision: number;
  readonly command_id: string;
  readonly ordinal: number;
  readonly event_id: string;
  readonly type: string;
  readonly actor: string;
  readonly body: string;
};

export type CheckRow = {
  readonly batch: bigint;
  readonly recorded_at: number;
  readonly machine: string;
  readonly check_id: string;
  readonly revision: number;
  readonly generation: number;
  readonly boot_counter: number;
  readonly boot_id: number;
  readonly sequence: number;
  readonly said: number;
  readonly interval_seconds: number;
  readonly window_seconds: number;
};

export const eventOf = (row: EventRow, recordedAt: number): RecordedEvent => ({
  kind: 'event',
  stream: row.stream,
  revision: row.revision,
  batch: row.batch,
  recordedAt,
  position: row.position,
  eventId: row.event_id,
  commandId: row.command_id,
  ordinal: row.ordinal,
  actor: actorOf(row.actor),
  event: ledgerEventOf(row.type, row.body),
  body: row.body,
});

export const checkInOf = (row: CheckRow): RecordedCheckIn => {
  const reason = STOP_REASONS[row.said - 1] ?? null;
  const checkIn: CheckedIn = {
    type: 'CheckedIn',
    machine: row.machine,
    generation: row.generation,
    boot: { counter: row.boot_counter, id: (row.boot_id >>> 0).toString(16).padStart(8, '0') },
    sequence: row.sequence,
    checkId: row.check_id,
    said: reason === null ? 'running' : 'stopping',
    reason,
    interval: row.interval_seconds,
    window: row.window_seconds,
  };
  return {
    kind: 'check-in',
    stream: machineStream(row.machine),
    revision: row.revision,
    batch: row.batch,
    recordedAt: row.recorded_at,
    checkIn,
  };
};

const saidOf = ({ reason }: CheckedIn): number => (reason === null ? 0 : 1 + STOP_REASONS.indexOf(reason));

const actorText = ({ kind, id }: Actor): string => `${kind}:${id}`;
const actorOf = (text: string): Actor => {
  const colon = text.indexOf(':');
  return { kind: text.slice(0, colon) as Actor['kind'], id: text.slice(colon + 1) };
};

/** What a writer knows of the record's time: the newest batch it saw, and how long ago by its steady clock. */
export type Known = { readonly recordedAt: number; readonly elapsedMs: number } | null;

/** The parallel arrays of one call of `append`, and what it is told beside them. @throws Unencodable for an item that no column takes. */
export const appendValues = (
  items: readonly AppendItem[],
  known: Known,
  { markAfterMs = 0, trace = null }: { readonly markAfterMs?: number; readonly trace?: string | null },
): unknown[] => {
  const events = items.flatMap((item, index) => item.events.map((event) => ({ ...event, item: index + 1 })));
  const checks = items.flatMap((item, index) =>
    item.checkIns.map(({ revision, checkIn }) => ({ revision, checkIn, item: index + 1 })),
  );
  const claims = items.flatMap((item, index) => item.claims.map((claim) => ({ ...claim, item: index + 1 })));
  return [
    texts(items.map((item) => item.stream)),
    integers(items.map((item) => item.expected)),
    integers(items.map((item) => item.revision)),
    integers(items.map((item) => item.fold)),
    booleans(items.map((item) => item.fresh)),
    booleans(items.map((item) => item.checkIns.length > 0)),
    texts(items.map((item) => item.state)),
    integers(events.map((event) => event.item)),
    integers(events.map((event) => event.revision)),
    uuids(events.map((event) => event.commandId)),
    integers(events.map((event) => event.ordinal)),
    uuids(events.map((event) => event.eventId)),
    texts(events.map((event) => event.type)),
    // What a machine claims as the time of an event; no event carries one yet.
    events.map(() => null),
    texts(events.map((event) => actorText(event.actor))),
    texts(events.map((event) => event.body)),
    texts(events.map((event) => event.trace)),
    integers(checks.map((check) => check.item)),
    integers(checks.map((check) => check.revision)),
    uuids(checks.map(({ checkIn }) => checkIn.machine)),
    uuids(checks.map(({ checkIn }) => checkIn.checkId)),
    integers(checks.map(({ checkIn }) => checkIn.generation)),
    integers(checks.map(({ checkIn }) => checkIn.boot.counter)),
    integers(checks.map(({ checkIn }) => Number.parseInt(checkIn.boot.id, 16) | 0)),
    integers(checks.map(({ checkIn }) => checkIn.sequence)),
    smallints(checks.map(({ checkIn }) => saidOf(checkIn))),
    smallints(checks.map(({ checkIn }) => checkIn.interval)),
    smallints(checks.map(({ checkIn }) => checkIn.window)),
    integers(claims.map((claim) => claim.item)),
    texts(claims.map((claim) => claim.key)),
    booleans(claims.map((claim) => claim.op === 'release')),
    known && timestampOf(known.recordedAt),
    known?.elapsedMs ?? 0,
    markAfterMs,
    trace,
  ];
};

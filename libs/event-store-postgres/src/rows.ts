import {
  ledgerEventOf,
  type Actor,
  type AppendItem,
  type RecordedCheckIn,
  type RecordedEvent,
} from '@rollcall/event-store';
import { machineStream, STOP_REASONS, type CheckedIn } from '@rollcall/machine';
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

/** The parallel arrays of one call of `append`, and what it is told beside them. */
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
    items.map((item) => item.stream),
    items.map((item) => item.expected),
    items.map((item) => item.revision),
    items.map((item) => item.fold),
    items.map((item) => item.fresh),
    items.map((item) => item.checkIns.length > 0),
    items.map((item) => item.state),
    events.map((event) => event.item),
    events.map((event) => event.revision),
    events.map((event) => event.commandId),
    events.map((event) => event.ordinal),
    events.map((event) => event.eventId),
    events.map((event) => event.type),
    events.map(() => null),
    events.map((event) => actorText(event.actor)),
    events.map((event) => event.body),
    events.map((event) => event.trace),
    checks.map((check) => check.item),
    checks.map((check) => check.revision),
    checks.map(({ checkIn }) => checkIn.machine),
    checks.map(({ checkIn }) => checkIn.checkId),
    checks.map(({ checkIn }) => checkIn.generation),
    checks.map(({ checkIn }) => checkIn.boot.counter),
    checks.map(({ checkIn }) => Number.parseInt(checkIn.boot.id, 16) | 0),
    checks.map(({ checkIn }) => checkIn.sequence),
    checks.map(({ checkIn }) => saidOf(checkIn)),
    checks.map(({ checkIn }) => checkIn.interval),
    checks.map(({ checkIn }) => checkIn.window),
    claims.map((claim) => claim.item),
    claims.map((claim) => claim.key),
    claims.map((claim) => claim.op === 'release'),
    known && timestampOf(known.recordedAt),
    known?.elapsedMs ?? 0,
    markAfterMs,
    trace,
  ];
};

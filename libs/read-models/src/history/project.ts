import type { Instant } from '@rollcall/decider';
import type { Actor, RecordedCheckIn, RecordedFact } from '@rollcall/event-store';
import type { Said } from '@rollcall/machine';
import type { Rows } from '../rows.js';
import { machineOf, understand, type Parked } from '../understand.js';

/** A ledger event, kept as it was recorded. */
export type EventLine = {
  readonly kind: 'event';
  readonly machine: string;
  readonly revision: number;
  readonly at: Instant;
  readonly type: string;
  readonly actor: Actor;
  /** The recorded bytes. */
  readonly body: string;
};

/** Check-ins with nothing between them: no event, no other word, and no silence longer than the window. */
export type ChecksLine = {
  readonly kind: 'checks';
  readonly machine: string;
  /** Of the first check. */
  readonly revision: number;
  readonly at: Instant;
  readonly lastRevision: number;
  readonly lastAt: Instant;
  readonly checks: number;
  readonly said: Said;
  /** Seconds; of the newest check. */
  readonly window: number;
  /** Only where a run was made of the record itself, and then it ends with its generation. */
  readonly generation?: number;
};

/** One line of a machine's history. */
export type HistoryLine = EventLine | ChecksLine;

/**
 * Applies one fact: a new line, or one more check in the newest line.
 *
 * @param newest the newest line of each machine, by machine; what is put becomes the newest
 * @returns what could not be used and why, or null. An event that this version does not understand is parked *and* kept as a
 *   line: a history leaves nothing out.
 */
export const project = (newest: Rows<HistoryLine>, recorded: RecordedFact): Parked | null => {
  const machine = machineOf(recorded);
  if (machine === null) return null;
  const { stream, revision } = recorded;
  const understood = understand(recorded);
  if (recorded.kind === 'event') {
    const { recordedAt: at, actor, body } = recorded;
    newest.put(machine, { kind: 'event', machine, revision, at, type: recorded.event.type, actor, body });
  } else if (understood.understood) {
    newest.put(machine, afterCheck(machine, newest.get(machine), recorded));
  }
  return understood.understood ? null : { stream, revision, reason: understood.reason, detail: understood.detail };
};

const afterCheck = (machine: string, line: HistoryLine | undefined, recorded: RecordedCheckIn): ChecksLine => {
  const { revision, recordedAt, checkIn } = recorded;
  const { said, window } = checkIn;
  if (line?.kind === 'checks' && line.said === said && recordedAt - line.lastAt <= line.window * 1_000) {
    return { ...line, lastRevision: revision, lastAt: recordedAt, checks: line.checks + 1, window };
  }
  return {
    kind: 'checks',
    machine,
    revision,
    at: recordedAt,
    lastRevision: revision,
    lastAt: recordedAt,
    checks: 1,
    said,
    window,
  };
};

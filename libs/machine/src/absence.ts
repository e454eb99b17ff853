import { instantOf, timestampOf, type Instant, type Rules } from '@rollcall/decider';
import type { AcceptCheck } from './commands.js';
import type { MachineFact, Returned, StopReason, WentAbsent } from './facts.js';
import { presence, silenceBegan } from './presence.js';

/** The silence that is recorded; null while the machine is heard from. */
export type Absence = {
  /** When it became due (RFC 3339). */
  readonly dueAt: string;
} | null;

/** What a watcher has heard, together with what the machine's other rules know of it. */
export type SilenceSeen = {
  readonly type: 'NoteSilence';
  /** The time of the newest ear that the watcher has applied. */
  readonly heardUntil: Instant;
  /** The end of the newest gap that it knows of; null without one. */
  readonly gapEnd: Instant | null;
  /** Seconds; null before the first check. */
  readonly window: number | null;
  /** What the machine gave as the reason of its stop; null where it had not said that it would stop. */
  readonly stopReason: StopReason | null;
};

/**
 * A silence is recorded once, when it has become longer than the window, and so is its end, by the check that ends it. The watcher's view may
 * be as old as it likes: what it decides is decided on the newest check of the stream, so a check that came meanwhile is not called silence.
 */
export const absence: Rules<Absence, SilenceSeen | AcceptCheck, MachineFact> = {
  initial: () => null,

  decide(state, command, { now, lastCheckAt }): readonly (WentAbsent | Returned)[] {
    switch (command.type) {
      case 'NoteSilence': {
        const { heardUntil, gapEnd, window, stopReason } = command;
        if (state !== null || lastCheckAt === null || window === null) return [];
        if (presence(heardUntil, { lastCheckAt, window, gapEnd, absentSince: null }) !== 'absent') return [];
        const dueAt = silenceBegan(lastCheckAt, gapEnd) + window * 1_000;
        return [
          { type: 'WentAbsent', lastCheckAt: timestampOf(lastCheckAt), dueAt: timestampOf(dueAt), window, stopReason },
        ];
      }
      case 'AcceptCheck':
        if (state === null) return [];
        return [{ type: 'Returned', absentFor: Math.max(0, Math.floor((now - instantOf(state.dueAt)) / 1_000)) }];
    }
  },

  evolve(state, fact) {
    switch (fact.type) {
      case 'WentAbsent':
        return { dueAt: fact.dueAt };
      case 'Returned':
      case 'MachineDeleted':
        return null;
      default:
        return state;
    }
  },
};

/** When a machine that is heard from becomes absent if nothing more comes; null where there is nothing to wait for. */
export const absenceDue = (
  { absence: recorded, window }: { readonly absence: Absence; readonly window: number | null },
  { lastCheckAt, gapEnd }: { readonly lastCheckAt: Instant | null; readonly gapEnd: Instant | null },
): Instant | null =>
  recorded !== null || window === null || lastCheckAt === null
    ? null
    : silenceBegan(lastCheckAt, gapEnd) + window * 1_000;

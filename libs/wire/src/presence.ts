import type { AsOf, LifecycleWord, MachineView, PresenceWord } from './operator.js';

/** How many machines are alike in what they are asked for most: three answers that stay three (plane, section 3). */
export type StateCount = {
  readonly presence: PresenceWord;
  /** null until the first check. */
  readonly lifecycle: LifecycleWord | null;
  readonly canTakeWork: boolean;
  readonly machines: number;
};

/** On how many machines a blocker stands. */
export type BlockerCount = {
  readonly code: string;
  readonly blocksWork: boolean;
  /** Present or not. */
  readonly machines: number;
  /** Of these, those that are present. */
  readonly present: number;
};

/** Machines by what they are. Each is in one of the states, and under each of its blockers. */
export type PresenceCounts = {
  readonly total: number;
  /** Present, but cannot take work (O32). */
  readonly blocked: number;
  /** Those in which there is a machine, in a fixed order. */
  readonly states: readonly StateCount[];
  /** Those that stand somewhere, by code. */
  readonly blockers: readonly BlockerCount[];
};

/** `GET /v1/presence` (U3). `page` is what `GET /v1/machines` answers to the same filters, of the same moment; null where no `limit` asks for one. */
export type PresenceAnswer = AsOf &
  PresenceCounts & {
    readonly page: { readonly machines: readonly MachineView[]; readonly next: string | null } | null;
  };

/**
 * `snapshot` of `GET /v1/presence/stream`, its first event: how things stand, at the place that is its id. `reset` is the same in the middle:
 * what happened since the place where the client was is not told one by one, so whoever keeps a list asks for it anew.
 */
export type PresenceSnapshot = AsOf & PresenceCounts;
/** `change`: a machine as it was after something happened to it. Checks that say nothing new are none. */
export type PresenceChange = {
  /** When it happened, by the record. */
  readonly asOf: string;
  readonly machine: MachineView;
};
/** `heard`: nothing happened up to here. */
export type PresenceHeard = AsOf;

/**
 * Why a stream ended, in its last event, `end`. `too-slow`: the client took half a minute for an event. `stopping`: this instance ends, others go
 * on. `signed-out`: the session is over. `unavailable`: the plane cannot read its record right now.
 */
export type EndOfStream = 'too-slow' | 'signed-out' | 'stopping' | 'unavailable';
export type StreamEnd = { readonly reason: EndOfStream };

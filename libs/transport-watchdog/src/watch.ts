import type { Timing } from './timing.js';

/** What a watchdog knows of its link. All times are of one monotonic clock, in whole milliseconds. */
export type Watch = {
  readonly timing: Timing;
  readonly startedAt: number;
  /** When the newest reply was read, a yes or a no; null before the first. */
  readonly lastReplyAt: number | null;
  /** When the probe left that waits for its answer; null while none waits. */
  readonly probeSentAt: number | null;
  /** How long the newest reply took; null before the first. */
  readonly roundTrip: number | null;
};

/** A watchdog starts. */
export const started = (timing: Timing, at: number): Watch => ({
  timing,
  startedAt: at,
  lastReplyAt: null,
  probeSentAt: null,
  roundTrip: null,
});

/** A probe leaves. */
export const probeSent = (watch: Watch, at: number): Watch => ({ ...watch, probeSentAt: at });

/** The far side answered the probe that waits: that it said no proves as much as a yes (T-1.2). */
export const replied = (watch: Watch, at: number): Watch => ({
  ...watch,
  lastReplyAt: at,
  probeSentAt: null,
  roundTrip: watch.probeSentAt === null ? null : at - watch.probeSentAt,
});

const lastHeardAt = ({ startedAt, lastReplyAt }: Watch): number => lastReplyAt ?? startedAt;

/** How long nothing was heard: since the newest reply, or since the start before the first one. */
export const silenceOf = (watch: Watch, now: number): number => now - lastHeardAt(watch);

/** What a silence means, and how long it is in milliseconds. */
export type Look = { readonly verdict: 'alive' | 'unresponsive' | 'lost'; readonly silence: number };

/**
 * A link is unresponsive when its silence is longer than two intervals, which is to say that its probe has waited for more than one, and
 * lost when it is longer than the deadline; a silence that equals a bound is not beyond it (T-1.3).
 */
export const look = (watch: Watch, now: number): Look => {
  const silence = silenceOf(watch, now);
  const { interval, deadline } = watch.timing;
  return { verdict: silence > deadline ? 'lost' : silence > 2 * interval ? 'unresponsive' : 'alive', silence };
};

/**
 * The next probe leaves one interval after the newest reply, or after the start, and none while another waits: null (T-1.2).
 */
export const nextProbeAt = (watch: Watch): number | null =>
  watch.probeSentAt === null ? lastHeardAt(watch) + watch.timing.interval : null;

/** The first moment at which this silence would be a loss: a look at the deadline itself would find it equal, and nothing would look again. */
export const nextLookAt = (watch: Watch): number => lastHeardAt(watch) + watch.timing.deadline + 1;

/**
 * What a disposal goes by: taken once, before its first remote command, and handed on as a value, so that no disposal runs one command and
 * leaves out another (T-2.8).
 */
export type Reading = { readonly lost: boolean; readonly unresponsive: boolean };

/** Reads a session: whether its transport was declared lost, and whether it is unresponsive. Without a watchdog nothing is known of silence. */
export const read = (declaredLost: boolean, watch: Watch | null, now: number): Reading =>
  Object.freeze({
    lost: declaredLost,
    unresponsive: watch !== null && look(watch, now).verdict !== 'alive',
  });

/** Remote commands are for transports that answer. */
export const allowsCommands = ({ lost, unresponsive }: Reading): boolean => !lost && !unresponsive;

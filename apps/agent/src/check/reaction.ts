import {
  firstAfterLoss,
  heldOff,
  paceOf,
  repetition,
  unknownAgain,
  type Chance,
  type Limits,
} from '@rollcall/check-schedule';
import type { TransportFailure } from '@rollcall/pinned-https';
import type { ProblemCode } from '@rollcall/wire';
import type { Verdict } from './verdict.js';

/** What the loop remembers from one check to the next; intervals in milliseconds, counts of the same thing in a row. */
export type Course = {
  readonly lastGood: number;
  readonly lost: number;
  readonly unknown: number;
  readonly stale: number;
};

/** The course after a success, or at the start. `interval` in milliseconds. */
export const courseFrom = (interval: number): Course => ({ lastGood: interval, lost: 0, unknown: 0, stale: 0 });

/** What became of a check: an answer that was read, or none. */
export type Outcome = Verdict | { readonly kind: 'lost'; readonly failure: TransportFailure; readonly message: string };

/**
 * What to do next.
 *
 * - `check`: a new one
 * - `repeat`: the same one, body and id
 * - `minimal`: a new one without what the plane could not take
 * - `take-boot`: a new one under a higher boot
 * - `other-key`: a new one with the other credential that is held
 * - `halt`: nothing, until a person has done something
 */
export type Next = 'check' | 'repeat' | 'minimal' | 'take-boot' | 'other-key' | 'halt';

/** What to do next, and after how many milliseconds. */
export type Reaction = { readonly course: Course; readonly next: Next; readonly wait: number };

/** What a reaction depends on beside the outcome and the course. */
export type Circumstances = {
  readonly chance: Chance;
  readonly limits: Limits;
  /** Another credential is held and has not been tried since the last success. */
  readonly hasOtherKey: boolean;
};

/** One function turns every outcome of a check into behaviour. None of them removes anything from this machine (O20). */
export const reactTo = (outcome: Outcome, course: Course, circumstances: Circumstances): Reaction => {
  const { chance, limits } = circumstances;
  if (outcome.kind === 'accepted') {
    const { wait, lastGood } = paceOf(outcome.answer.interval, course.lastGood, limits);
    return { course: courseFrom(lastGood), next: 'check', wait };
  }
  if (outcome.kind === 'lost') {
    const again = course.lost === 0 ? firstAfterLoss : repetition;
    const wait = again(course.lastGood, chance, limits);
    return { course: { ...course, lost: course.lost + 1 }, next: 'repeat', wait };
  }
  const later: Reaction = {
    course,
    next: 'repeat',
    wait:
      outcome.retryAfter === null
        ? repetition(course.lastGood, chance, limits)
        : heldOff(outcome.retryAfter, chance, limits),
  };
  return outcome.kind === 'refused' ? refused(MEANING[outcome.code], later, circumstances) : later;
};

const refused = (meaning: Meaning, later: Reaction, { chance, limits, hasOtherKey }: Circumstances): Reaction => {
  const { course } = later;
  const atInterval = repetition(course.lastGood, chance, limits);
  if (meaning === 'deleted') return { course, next: 'halt', wait: 0 };
  if (meaning === 'unknown' || meaning === 'behind') {
    if (hasOtherKey) return { course, next: 'other-key', wait: limits.floor };
    if (meaning === 'behind') return { course, next: 'repeat', wait: atInterval };
    const unknown = course.unknown + 1;
    const wait = unknownAgain(course.lastGood, unknown, limits);
    return { course: { ...course, unknown }, next: 'repeat', wait };
  }
  if (meaning === 'stale')
    // At once, but once: a plane that calls everything stale gets no hot loop.
    return {
      course: { ...course, stale: course.stale + 1 },
      next: 'take-boot',
      wait: course.stale === 0 ? 0 : atInterval,
    };
  return meaning === 'body' ? { course, next: 'minimal', wait: atInterval } : later;
};

/** What a code is to a check. `later`: load, faults, and refusals of other calls, which tell a machine nothing about itself. */
type Meaning = 'deleted' | 'unknown' | 'behind' | 'stale' | 'body' | 'later';

const MEANING: Readonly<Record<ProblemCode, Meaning>> = {
  'credential-revoked': 'deleted',
  'credential-unknown': 'unknown',
  'generation-behind': 'behind',
  'stale-check': 'stale',
  'invalid-body': 'body',
  'malformed-body': 'body',
  'too-large': 'body',
  'unsupported-type': 'body',
  'headers-too-large': 'body',
  'bad-request': 'body',
  'hash-registered-before': 'later',
  'duplicate-installation': 'later',
  'request-not-pending': 'later',
  'token-refused': 'later',
  'token-not-found': 'later',
  'already-admitted': 'later',
  'identifier-in-use': 'later',
  'code-pending': 'later',
  'access-denied': 'later',
  'asked-too-soon': 'later',
  'code-refused': 'later',
  'too-many-wrong-codes': 'later',
  'not-signed-in': 'later',
  'session-not-fresh': 'later',
  'scope-missing': 'later',
  'actor-refused': 'later',
  'automation-token-not-found': 'later',
  'too-many-automation-tokens': 'later',
  'cross-site': 'later',
  'not-the-first-person': 'later',
  'too-many-people': 'later',
  'person-not-found': 'later',
  'first-person-stays': 'later',
  'machines-left': 'later',
  'owner-stays': 'later',
  'workspace-not-found': 'later',
  'workspace-full': 'later',
  'link-refused': 'later',
  'account-refused': 'later',
  'account-taken': 'later',
  'account-not-found': 'later',
  'session-not-found': 'later',
  'too-many-accounts': 'later',
  'provider-refused': 'later',
  'provider-away': 'later',
  'machine-not-found': 'later',
  'name-ambiguous': 'later',
  'pause-already-over': 'later',
  'too-many-labels': 'later',
  'too-many-promises': 'later',
  'time-not-recorded': 'later',
  'not-admitted-then': 'later',
  'read-model-not-found': 'later',
  'webhook-not-found': 'later',
  'webhook-delivery-not-found': 'later',
  'webhook-target-refused': 'later',
  'webhook-key-missing': 'later',
  'not-found': 'later',
  'method-not-allowed': 'later',
  'slow-down': 'later',
  unavailable: 'later',
  internal: 'later',
};

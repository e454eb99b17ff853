import { DEFAULT_INTERVAL, type Chance, type Limits } from '@rollcall/check-schedule';
import type { Clock } from '@rollcall/lifetimes';
import { TransportError } from '@rollcall/pinned-https';
import { isPin, type CheckRequest, type StopReasonWord } from '@rollcall/wire';
import type { Log } from '../log.js';
import type { Asked } from './asked.js';
import { checkBody, type Display, type SelfPortrait } from './check-body.js';
import type { CheckStatus } from './check-status.js';
import type { ClockSighting } from './clock-sighting.js';
import type { Enrolment, Key, MachineRow, Notebook } from './enrolment.js';
import { clockProblemOf, describeOutcome } from './describe-outcome.js';
import { sayGoodbye } from './goodbye.js';
import { courseFrom, reactTo, type Course, type Outcome } from './reaction.js';
import type { Readiness } from './readiness.js';
import { verdictOn, type AcceptedCheck } from './verdict.js';
import { elapsedSince, momentOf, watchfulSleep, type Moment } from './watchful-sleep.js';

/** For a check, from the first packet to the last byte of the answer. */
const CHECK_DEADLINE = 10_000;
const COUNTER_LIMIT = 2 ** 31 - 1;

/** What the loop needs from outside: time, chance and ids are arguments. */
export type CheckLoopOptions = {
  readonly clock: Clock;
  readonly notebook: Notebook;
  readonly readiness: Readiness;
  readonly portrait: SelfPortrait;
  readonly boot: CheckRequest['boot'];
  readonly limits: Limits;
  readonly log: Log;
  readonly chance: Chance;
  readonly newCheckId: () => string;
  readonly newBootId: () => string;
  /** Told of what each answer asks for; returns at once (O13). (Default: nobody listens) */
  readonly onAsked?: (asked: Asked) => void;
  /** Told of each accepted check whose answer says the plane's time. (Default: nobody looks at the clock) */
  readonly onSighting?: (sighting: ClockSighting) => void;
};

/** Resolved when somebody has news for the loop. */
type Doorbell = { rung: boolean; readonly bell: AbortController };

/**
 * The one loop that keeps this machine present: a check at once at the start, when there is a new credential and when readiness changes;
 * then by the interval of each answer (O16, O33).
 *
 * It decides nothing itself: `reactTo` does, and `watchfulSleep` knows the time. It waits on no disk, probe or upload (O13).
 */
export class CheckLoop {
  readonly #o: CheckLoopOptions;
  #boot: CheckRequest['boot'];
  #sequence = 0;
  #enrolment: Enrolment | null = null;
  #key: Key | null = null;
  #triedOtherKey = false;
  #confirmed: Key | null = null;
  #chain: string | null = null;
  #machine: MachineRow | null = null;
  #course: Course = courseFrom(DEFAULT_INTERVAL);
  /** The check that has not been answered yet, kept with its id and body for the repetition. */
  #unanswered: CheckRequest | null = null;
  /** Display that the plane refused; left out as long as it is the same. */
  #refusedDisplay: string | null = null;
  #sentAt: Moment | null = null;
  #door: Doorbell = { rung: false, bell: new AbortController() };
  #halted = false;
  #goodbye: Promise<boolean> | null = null;
  #status: Omit<CheckStatus, 'state' | 'boot' | 'sequence' | 'machine' | 'interval'> = {
    lastAttemptAt: null,
    lastAcceptedAt: null,
    lastOutcome: null,
    clockProblem: null,
    nextCheckAt: null,
  };

  constructor(options: CheckLoopOptions) {
    this.#o = options;
    this.#boot = options.boot;
  }

  /** Checks in with this from now on, and at once; null: there is nothing to check in with. */
  use(enrolment: Enrolment | null): void {
    this.#enrolment?.plane.abandonConnections();
    this.#enrolment = enrolment;
    this.#key = enrolment?.keys[0] ?? null;
    this.#triedOtherKey = false;
    this.#chain = enrolment?.chain ?? null;
    this.#machine = enrolment?.machine ?? null;
    this.#course = courseFrom(enrolment?.interval ?? DEFAULT_INTERVAL);
    this.#unanswered = null;
    this.#halted = false;
    this.#status = { ...this.#status, lastOutcome: null, nextCheckAt: null };
    this.#ring();
  }

  /** Tries a newer key of the same machine at once, and falls back on the one in use if the plane does not take it (O19). */
  prefer(newer: Key): void {
    const enrolment = this.#enrolment;
    const key = this.#key;
    if (!enrolment || !key) return;
    this.#enrolment = { ...enrolment, keys: [newer, key] };
    this.#key = newer;
    this.#triedOtherKey = false;
    this.#unanswered = null;
    this.#ring();
  }

  get status(): CheckStatus {
    return {
      ...this.#status,
      state: this.#goodbye
        ? 'stopping'
        : this.#key === null
          ? 'idle'
          : this.#halted
            ? 'waiting-for-person'
            : 'checking',
      boot: this.#boot,
      sequence: this.#sequence,
      machine: this.#machine,
      interval: this.#course.lastGood / 1_000,
    };
  }

  /** The key that is in use; for comparing, never for showing. */
  get key(): Key | null {
    return this.#key;
  }

  /** Runs until the signal; never throws for anything that a plane or a network does. */
  async run(signal: AbortSignal): Promise<void> {
    const stopListening = this.#o.readiness.onChange(() => this.#ring());
    try {
      let due = 0;
      while (!signal.aborted) {
        if (!this.#canCheck) {
          await this.#rung(signal);
          this.#listen();
          due = 0;
          continue;
        }
        if (!(await this.#sleepUntilDue(due, signal))) continue;
        due = await this.#turn(signal);
      }
    } finally {
      stopListening();
    }
  }

  /**
   * The last check: says that this machine stops, and why. Under its own deadline of five seconds, which nothing else cancels; calling it
   * again gives the same one (O17, C17). To be called when `run` has returned.
   *
   * @returns whether the plane has taken it
   */
  goodbye(reason: StopReasonWord): Promise<boolean> {
    this.#goodbye ??= this.#sayGoodbye(reason).finally(() => this.#enrolment?.plane.abandonConnections());
    return this.#goodbye;
  }

  get #canCheck(): boolean {
    return this.#enrolment !== null && this.#key !== null && !this.#halted;
  }

  #ring(): void {
    this.#door.rung = true;
    this.#door.bell.abort();
  }

  #listen(): void {
    this.#door = { rung: false, bell: new AbortController() };
  }

  async #rung(signal: AbortSignal): Promise<void> {
    const { bell } = this.#door;
    if (bell.signal.aborted || signal.aborted) return;
    await new Promise<void>((resolve) => {
      const done = () => {
        bell.signal.removeEventListener('abort', done);
        signal.removeEventListener('abort', done);
        resolve();
      };
      bell.signal.addEventListener('abort', done);
      signal.addEventListener('abort', done);
    });
  }

  /** Sleeps that long, less when somebody rings or the machine slept, and never less than the floor since the last check. */
  async #sleepUntilDue(wait: number, signal: AbortSignal): Promise<boolean> {
    const { clock, limits } = this.#o;
    let early = this.#door.rung;
    if (!early && wait > 0) {
      this.#status = { ...this.#status, nextCheckAt: clock.wall() + wait };
      const slept = await watchfulSleep(clock, wait, AbortSignal.any([signal, this.#door.bell.signal]));
      if (slept === 'resumed') this.#afterResume();
      early = slept !== 'elapsed';
    }
    const floorLeft = () => (this.#sentAt ? limits.floor - elapsedSince(this.#sentAt, clock) : 0);
    if (early) while (floorLeft() > 0 && !signal.aborted) await watchfulSleep(clock, floorLeft(), signal);
    return !signal.aborted && this.#canCheck;
  }

  #afterResume(): void {
    this.#o.log.info('The machine slept; checking at once on new connections');
    this.#enrolment?.plane.abandonConnections();
  }

  /** One check and what follows from it. @returns milliseconds until the next one */
  async #turn(signal: AbortSignal): Promise<number> {
    const { clock, limits, chance, log } = this.#o;
    const enrolment = this.#enrolment;
    const key = this.#key;
    if (!enrolment || !key) return 0;
    // News since the check that is to be repeated: that one has been overtaken.
    if (this.#door.rung) this.#unanswered = null;
    this.#listen();
    const request = (this.#unanswered ??= this.#newCheck(null));
    this.#sentAt = momentOf(clock);
    this.#status = { ...this.#status, lastAttemptAt: clock.wall(), nextCheckAt: null };
    const outcome = await this.#exchange(enrolment, key, request, signal);
    if (outcome === 'resumed') {
      this.#afterResume();
      return Math.max(0, limits.floor - elapsedSince(this.#sentAt, clock));
    }
    // Stopped, or enrolled anew, while it was under way.
    if (outcome === 'aborted' || enrolment !== this.#enrolment) return 0;

    const hasOtherKey = !this.#triedOtherKey && this.#otherKey() !== null;
    const { course, next, wait } = reactTo(outcome, this.#course, { chance, limits, hasOtherKey });
    this.#course = course;
    this.#note(outcome, next === 'halt');
    if (outcome.kind === 'accepted') {
      this.#accept(outcome.answer, key, enrolment);
      this.#sight(outcome.answer, this.#sentAt);
    }
    if (next !== 'repeat') this.#unanswered = null;
    switch (next) {
      case 'minimal':
        this.#refusedDisplay = textOf(this.#display());
        break;
      case 'take-boot':
        this.#takeBoot(outcome.kind === 'refused' ? outcome.highestBoot : null);
        break;
      case 'other-key':
        this.#key = this.#otherKey();
        this.#triedOtherKey = true;
        log.warn('The plane does not take the newest credential; trying the one before it');
        break;
      case 'halt':
        this.#halted = true;
        this.#o.notebook.keyRevoked(key);
        enrolment.plane.abandonConnections();
        break;
      case 'check':
      case 'repeat':
    }
    return wait;
  }

  async #exchange(
    { plane }: Enrolment,
    key: Key,
    request: CheckRequest,
    signal: AbortSignal,
  ): Promise<Outcome | 'resumed' | 'aborted'> {
    const { clock } = this.#o;
    const answered = new AbortController();
    const attempt = new AbortController();
    const call = this.#ask(plane, key, request, attempt.signal).finally(() => answered.abort());
    const watch = watchfulSleep(clock, CHECK_DEADLINE, AbortSignal.any([signal, answered.signal]));
    const ended = await Promise.race([call, watch]);
    // An answer ends the watch as well; it is the answer that counts then.
    if (typeof ended !== 'string' || (ended === 'aborted' && !signal.aborted)) return call;
    // A connection that swallowed a request is not given another one.
    attempt.abort();
    if (ended !== 'aborted') plane.abandonConnections();
    await call;
    return ended === 'elapsed'
      ? { kind: 'lost', failure: 'unreachable', message: `No answer within ${CHECK_DEADLINE / 1_000} s` }
      : ended;
  }

  /** Never rejects: what went wrong is an outcome. */
  async #ask(plane: Enrolment['plane'], key: Key, request: CheckRequest, signal: AbortSignal): Promise<Outcome> {
    try {
      const answer = await plane.check(request, key.secret, signal);
      const verdict = verdictOn(answer, this.#o.clock.wall());
      if (verdict.kind !== 'accepted') return verdict;
      return { kind: 'accepted', answer: withBelievablePins(verdict.answer, answer.pin) };
    } catch (error) {
      if (error instanceof TransportError) return { kind: 'lost', failure: error.code, message: error.message };
      this.#o.log.error('A check failed in an unexpected way', error);
      return { kind: 'lost', failure: 'unreachable', message: 'Unexpected failure, see the log' };
    }
  }

  #accept(answer: AcceptedCheck, key: Key, enrolment: Enrolment): void {
    const { notebook } = this.#o;
    const { pins = null, machine, chain } = answer;
    this.#chain = chain;
    this.#machine = { id: machine.id, name: machine.name, owner: machine.owner };
    if (pins) enrolment.plane.expect(pins);
    notebook.keepChain(chain);
    notebook.keepAnswer({ address: key.address, machine: this.#machine, pins, interval: this.#course.lastGood });
    // A first success makes the newest key the one; a success of the older one leaves both where they are (C04).
    if (this.#confirmed !== key && key === enrolment.keys[0]) {
      this.#confirmed = key;
      this.#enrolment = { ...enrolment, keys: [key] };
      notebook.keyConfirmed(key);
    }
    const { logTail, rotate } = answer.requests;
    const isUnfinished = key !== enrolment.keys[0];
    this.#o.onAsked?.({ logTail, rotate, isUnfinished, plane: enrolment.plane, key, machine: machine.id });
  }

  #sight({ serverTime }: AcceptedCheck, sentAt: Moment): void {
    const at = Date.parse(serverTime);
    if (!Number.isNaN(at))
      this.#o.onSighting?.({ sentAt: sentAt.wall, receivedAt: this.#o.clock.wall(), serverTime: at });
  }

  #otherKey(): Key | null {
    return this.#enrolment?.keys.find((key) => key !== this.#key) ?? null;
  }

  #takeBoot(highest: number | null): void {
    const known = highest !== null && highest >= 0 && highest < COUNTER_LIMIT ? highest : 0;
    const counter = Math.min(COUNTER_LIMIT, Math.max(known, this.#boot.counter) + 1);
    this.#boot = { counter, id: this.#o.newBootId() };
    this.#sequence = 0;
    this.#o.notebook.keepBoot(counter);
    this.#o.log.warn(`The plane knows a later start of this machine; going on as start ${counter}`);
  }

  #newCheck(stopping: StopReasonWord | null): CheckRequest {
    this.#sequence += 1;
    const display = this.#display();
    return checkBody({
      boot: this.#boot,
      sequence: this.#sequence,
      checkId: this.#o.newCheckId(),
      chain: this.#chain,
      stopping,
      display: textOf(display) === this.#refusedDisplay ? null : display,
    });
  }

  #display(): Display {
    const { portrait, readiness } = this.#o;
    const believes = {
      ...(this.#machine ? { machine: this.#machine.id } : {}),
      generation: this.#key?.generation ?? 0,
    };
    const findings = readiness.current();
    const notProbed = findings?.notProbed.map(({ code }) => code) ?? [];
    return {
      believes,
      blockers: findings?.blockers ?? null,
      ...(notProbed.length > 0 ? { notProbed } : {}),
      name: portrait.name,
      report: portrait.report,
    };
  }

  #note(outcome: Outcome, halted: boolean): void {
    const { clock, log } = this.#o;
    const said = describeOutcome(outcome);
    if (said.code !== this.#status.lastOutcome?.code) {
      if (outcome.kind === 'accepted') log.info('Checked in');
      else
        log.warn(`Check not taken: ${said.sentence}${halted ? ' No more checks until a person enrols it again' : ''}`);
    }
    this.#status = {
      ...this.#status,
      lastOutcome: said,
      lastAcceptedAt: outcome.kind === 'accepted' ? clock.wall() : this.#status.lastAcceptedAt,
      clockProblem: clockProblemOf(outcome),
    };
  }

  async #sayGoodbye(reason: StopReasonWord): Promise<boolean> {
    const enrolment = this.#enrolment;
    const key = this.#key;
    if (!enrolment || !key || this.#halted) return false;
    const { clock, log } = this.#o;
    const request = this.#newCheck(reason);
    const outcome = await sayGoodbye(clock, (signal) => this.#ask(enrolment.plane, key, request, signal));
    if (outcome.kind === 'accepted') log.info(`Said goodbye (${reason})`);
    else log.warn(`The goodbye was not taken: ${describeOutcome(outcome).sentence}`);
    return outcome.kind === 'accepted';
  }
}

/** What a machine shows of itself, for comparing. What it believes comes from the plane and is no reason to try again. */
const textOf = ({ blockers, notProbed, name, report }: Display): string =>
  JSON.stringify([blockers, notProbed, name, report]);

/**
 * Leaves pins out that would shut out the very authority that told them: a mistake of the plane's would lock this machine out for good.
 */
const withBelievablePins = (answer: AcceptedCheck, provenBy: string | null): AcceptedCheck => {
  const { pins, ...rest } = answer;
  return provenBy !== null && pins?.every(isPin) && pins.includes(provenBy) ? { ...rest, pins } : rest;
};

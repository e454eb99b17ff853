import { randomBytes, randomInt, randomUUID } from 'node:crypto';
import { DEFAULT_INTERVAL } from '@rollcall/check-schedule';
import { SystemClock, withDeadline, type Clock } from '@rollcall/lifetimes';
import { PinnedClient } from '@rollcall/pinned-https';
import {
  decodeEnrolmentToken,
  hashOf,
  makeSecret,
  type CheckAnswer,
  type CheckRequest,
  type EnrolmentAnswer,
  type EnrolmentRequest,
  type EnrolmentToken,
} from '@rollcall/wire';
import { chances, type Chance } from './chance.js';
import { inLanes } from './in-lanes.js';
import { nextCheck, type Course } from './next-check.js';
import { Pace } from './pace.js';
import { passes, readAnswer, readFailure, type Reading } from './reading.js';
import { SimulatedMachine, type LifeEvent } from './simulated-machine.js';
import { Tally, type FleetReport } from './tally.js';

/** The side of an HTTPS client that a fleet needs. */
export type PlaneConnections = Pick<PinnedClient, 'request' | 'abandonConnections'>;

/** What a fleet is made of. */
export type FleetOptions = {
  /** What the lives of the machines follow from; ids and secrets are new in each run. (Default: a random one) */
  readonly seed?: number;
  /** How many requests of a load are under way at most, and how many machines enrol at a time. (Default: 64) */
  readonly connections?: number;
  /** Each machine has a connection of its own, from its enrolment on; else they share those that there are. (Default: false) */
  readonly ownConnections?: boolean;
  /** One check in so many comes with an event of the machine's life; 0: nothing ever happens. (Default: 50) */
  readonly eventEvery?: number;
  readonly clock?: Clock;
  /** (Default: pinned HTTPS to where the token says) */
  readonly connect?: (token: EnrolmentToken) => PlaneConnections;
};

/** A check that was sent, and what came back. */
export type SentCheck = {
  /** When it was sent, in milliseconds since 1970. */
  readonly at: number;
  /** Until it was known what became of it. */
  readonly milliseconds: number;
  /** The word that the report counts it under. */
  readonly outcome: string;
  /** null: there was no answer. */
  readonly status: number | null;
  /** Milliseconds; null where the answer names none. */
  readonly retryAfter: number | null;
};

/** For how long a fleet checks in, and who is told. */
export type LiveOptions = {
  /** No check is begun once it is aborted; those under way are waited for. */
  readonly signal: AbortSignal;
  /** Called with the id of each check that was accepted: a line of what `npm run verify -- --answers` reads. */
  readonly onAccepted?: (answer: { readonly checkId: string }) => void;
  /** Called with each check that was sent, once it is known what became of it. */
  readonly onCheck?: (check: SentCheck) => void;
};

/** The same for a load. */
export type RunOptions = LiveOptions & {
  /** Checks per second in total, spread evenly over the machines; it may ask for far more than one per interval, because it is a load. */
  readonly rate: number;
};

type Member = {
  readonly machine: SimulatedMachine;
  underWay: boolean;
  heldUntil: number;
  readonly connections: PlaneConnections;
};

/** For a check or an enrolment, from the first packet to the last byte of the answer. Milliseconds. */
const DEADLINE = 10_000;
const ENROL_AGAIN_AFTER = 1_000;

/**
 * Honest machines in one process: each enrols with a token of its own over pinned HTTPS. Then they are a load, at a rate that does not depend
 * on how fast the plane answers (`run`), or check in when an agent would (`live`).
 */
export class Fleet implements AsyncDisposable {
  readonly seed: number;
  readonly #o: Required<FleetOptions>;
  readonly #nextChance: () => Chance;
  readonly #members: Member[] = [];
  readonly #over = new AbortController();
  #plane: { readonly place: string; readonly connections: PlaneConnections } | null = null;
  readonly #connected = new Set<PlaneConnections>();
  #named = 0;
  #turn = 0;
  #tally: Tally | null = null;

  constructor(options: FleetOptions = {}) {
    this.#o = {
      seed: randomInt(2 ** 31),
      connections: 64,
      ownConnections: false,
      eventEvery: 50,
      clock: new SystemClock(),
      connect: ({ address, pins }) => new PinnedClient({ origin: address, pins }),
      ...options,
    };
    this.seed = this.#o.seed;
    this.#nextChance = chances(this.seed);
  }

  /** How many machines are admitted. */
  get size(): number {
    return this.#members.length;
  }

  /**
   * Lets machines join, each with a token `rollcall1.…` of its own. A lost answer is asked for again under the same token.
   *
   * @param issueToken asked once per machine
   * @throws Error when a token is refused, or names another plane than the first
   */
  async enrol(count: number, issueToken: () => string | Promise<string>, signal: AbortSignal): Promise<void> {
    let left = count;
    await inLanes(Math.min(count, this.#o.connections), signal, async (over) => {
      while (left > 0 && !over.aborted) {
        left -= 1;
        await this.#admit(decodeEnrolmentToken(await issueToken()), over);
      }
    });
  }

  /**
   * Checks in at a rate, until the signal; then waits for the answers that are under way. One run at a time; machines go on where they
   * stopped.
   */
  async run({ rate, ...options }: RunOptions): Promise<FleetReport> {
    const { clock, connections } = this.#o;
    const pace = new Pace(rate, clock.monotonic());
    const report = await this.#during(options.signal, (ending, tally) =>
      inLanes(Math.min(connections, this.size), ending, async (over) => {
        while (!over.aborted) {
          const due = pace.next(clock.monotonic());
          const early = due - clock.monotonic();
          if (early > 0) await clock.sleep(early, over);
          if (over.aborted) return;
          const next = this.#nextTurn();
          if (next) await this.#check(next, due, tally, options);
          else pace.miss();
        }
      }),
    );
    return { ...report, missed: pace.missed };
  }

  /**
   * Lets each machine check in when an agent would: at the interval that the plane names, again at the interval after a failure, anywhere in it
   * when the plane was only just lost, and not before a `Retry-After` is over. They begin spread over one interval. Otherwise as `run`.
   */
  live(options: LiveOptions): Promise<FleetReport> {
    const rest = this.#members.values();
    return this.#during(options.signal, (ending, tally) =>
      inLanes(this.size, ending, (over) => this.#liveAs(rest.next().value as Member, over, tally, options)),
    );
  }

  async #liveAs(member: Member, over: AbortSignal, tally: Tally, options: LiveOptions): Promise<void> {
    const { clock } = this.#o;
    const chance = this.#nextChance();
    const share = () => chance.below(2 ** 31) / 2 ** 31;
    let course: Course = { interval: DEFAULT_INTERVAL, lost: false };
    let wait = course.interval * share();
    for (;;) {
      await clock.sleep(wait, over);
      if (over.aborted || member.machine.retired) return;
      const request = member.machine.turn();
      wait = course.interval;
      if (!request) continue;
      const reading = await this.#check({ member, request }, clock.monotonic(), tally, options);
      ({ course, wait } = nextCheck(reading, course, share));
    }
  }

  /** Counts what comes back until the signal, and until what is under way by then is answered. */
  async #during(signal: AbortSignal, work: (ending: AbortSignal, tally: Tally) => Promise<void>): Promise<FleetReport> {
    const { clock } = this.#o;
    if (this.#tally) throw new Error('The fleet is running already');
    if (this.size === 0) throw new Error('The fleet has no machines');
    const tally = (this.#tally = new Tally(clock.monotonic()));
    const ending = AbortSignal.any([signal, this.#over.signal]);
    const end = () => tally.end(clock.monotonic());
    ending.addEventListener('abort', end, { once: true });
    try {
      await work(ending, tally);
    } finally {
      ending.removeEventListener('abort', end);
      this.#tally = null;
    }
    return tally.report({ seed: this.seed, machines: this.size, missed: 0 });
  }

  /** Gives up what is under way, and ends the connections. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#over.abort();
    for (const connections of this.#connected) connections.abandonConnections();
    await Promise.resolve();
  }

  /** The next machine in the round that is there and has nothing under way, with its check; null when nobody is free. */
  #nextTurn(): { readonly member: Member; readonly request: CheckRequest } | null {
    const now = this.#o.clock.monotonic();
    for (let passed = 0; passed < this.#members.length; passed += 1) {
      const member = this.#members[this.#turn % this.#members.length] as Member;
      this.#turn += 1;
      if (member.underWay || member.heldUntil > now) continue;
      const request = member.machine.turn();
      if (request) return { member, request };
    }
    return null;
  }

  async #check(
    { member, request }: { readonly member: Member; readonly request: CheckRequest },
    due: number,
    tally: Tally,
    { onAccepted, onCheck }: LiveOptions,
  ): Promise<Reading<CheckAnswer>> {
    const { clock } = this.#o;
    const { machine } = member;
    const [at, begun] = [clock.wall(), clock.monotonic()];
    member.underWay = true;
    const reading = await this.#ask<CheckAnswer>(
      member.connections,
      '/v1/check',
      request,
      ({ chain }) => typeof chain === 'string',
      machine.credential,
    );
    const { outcome, counted, status, retryAfter } = reading;
    member.underWay = false;
    const now = clock.monotonic();
    member.heldUntil = now + (retryAfter ?? 0);
    machine.learn(outcome);
    tally.count(counted);
    onCheck?.({ at, milliseconds: now - begun, outcome: counted, status, retryAfter });
    if (outcome.kind === 'accepted') {
      tally.accepted(due, now);
      onAccepted?.({ checkId: request.checkId });
    }
    return reading;
  }

  async #admit(token: EnrolmentToken, signal: AbortSignal): Promise<void> {
    const { clock, eventEvery, ownConnections } = this.#o;
    const place = JSON.stringify([token.address, token.pins]);
    this.#plane ??= { place, connections: this.#connect(token) };
    if (this.#plane.place !== place) throw new Error('These tokens name different planes');
    const connections = ownConnections ? this.#connect(token) : this.#plane.connections;
    const credential = makeSecret('rcm');
    const machine = new SimulatedMachine({
      index: (this.#named += 1),
      credential,
      chance: this.#nextChance(),
      eventEvery,
      newCheckId: randomUUID,
      newBootId: () => randomBytes(4).toString('hex'),
      onEvent: (event: LifeEvent) => this.#tally?.happened(event),
    });
    const request: EnrolmentRequest = {
      token: token.secret,
      identifier: randomUUID(),
      credentialHash: hashOf(credential),
      profile: { hostname: machine.name, agentVersion: 'simulated', platform: 'linux', arch: 'x64' },
    };
    while (!signal.aborted) {
      const reading = await this.#ask<EnrolmentAnswer>(
        connections,
        '/v1/enrolments',
        request,
        (body) => body.machine !== undefined,
      );
      if (reading.outcome.kind === 'accepted') {
        this.#members.push({ machine, underWay: false, heldUntil: 0, connections });
        return;
      }
      if (!passes(reading)) throw new Error(`${machine.name} was not admitted (${reading.counted})`);
      await clock.sleep(Math.max(ENROL_AGAIN_AFTER, reading.retryAfter ?? 0), signal);
    }
  }

  #connect(token: EnrolmentToken): PlaneConnections {
    const connections = this.#o.connect(token);
    this.#connected.add(connections);
    return connections;
  }

  async #ask<Accepted>(
    connections: PlaneConnections,
    path: string,
    body: unknown,
    isExpected: (body: Partial<Accepted>) => boolean,
    credential?: string,
  ): Promise<Reading<Accepted>> {
    const headers = {
      'content-type': 'application/json',
      accept: 'application/json',
      ...(credential === undefined ? {} : { authorization: `Bearer ${credential}` }),
    };
    try {
      const answer = await withDeadline(
        this.#o.clock,
        DEADLINE,
        (signal) => connections.request({ method: 'POST', path, headers, body: JSON.stringify(body), signal }),
        this.#over.signal,
      );
      return readAnswer(answer, isExpected);
    } catch (error) {
      return readFailure(error);
    }
  }
}

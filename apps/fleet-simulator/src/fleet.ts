import { randomBytes, randomInt, randomUUID } from 'node:crypto';
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
  /** How many requests are under way at most, each on a kept connection. (Default: 64) */
  readonly connections?: number;
  /** One check in so many comes with an event of the machine's life; 0: nothing ever happens. (Default: 50) */
  readonly eventEvery?: number;
  readonly clock?: Clock;
  /** (Default: pinned HTTPS to where the token says) */
  readonly connect?: (token: EnrolmentToken) => PlaneConnections;
};

/** How a fleet checks in for a while. */
export type RunOptions = {
  /** Checks per second in total, spread evenly over the machines; it may ask for far more than one per interval, because it is a load. */
  readonly rate: number;
  /** No check is begun once it is aborted; those under way are waited for. */
  readonly signal: AbortSignal;
  /** Called with the id of each check that was accepted: a line of what `npm run verify -- --answers` reads. */
  readonly onAccepted?: (answer: { readonly checkId: string }) => void;
};

type Member = { readonly machine: SimulatedMachine; underWay: boolean; heldUntil: number };

/** For a check or an enrolment, from the first packet to the last byte of the answer. Milliseconds. */
const DEADLINE = 10_000;
const ENROL_AGAIN_AFTER = 1_000;

/**
 * Honest machines in one process: each enrols with a token of its own over pinned HTTPS, and they check in at a rate that does not depend
 * on how fast the plane answers.
 */
export class Fleet implements AsyncDisposable {
  readonly seed: number;
  readonly #o: Required<FleetOptions>;
  readonly #nextChance: () => Chance;
  readonly #members: Member[] = [];
  readonly #over = new AbortController();
  #plane: { readonly place: string; readonly connections: PlaneConnections } | null = null;
  #named = 0;
  #turn = 0;
  #tally: Tally | null = null;

  constructor(options: FleetOptions = {}) {
    this.#o = {
      seed: randomInt(2 ** 31),
      connections: 64,
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

  /** Checks in until the signal, then waits for the answers that are under way. One run at a time; machines go on where they stopped. */
  async run({ rate, signal, onAccepted }: RunOptions): Promise<FleetReport> {
    const { clock, connections } = this.#o;
    if (this.#tally) throw new Error('The fleet is running already');
    if (this.size === 0) throw new Error('The fleet has no machines');
    const start = clock.monotonic();
    const tally = (this.#tally = new Tally(start));
    const pace = new Pace(rate, start);
    const ending = AbortSignal.any([signal, this.#over.signal]);
    const end = () => tally.end(clock.monotonic());
    ending.addEventListener('abort', end, { once: true });
    try {
      await inLanes(Math.min(connections, this.size), ending, async (over) => {
        while (!over.aborted) {
          const due = pace.next(clock.monotonic());
          const early = due - clock.monotonic();
          if (early > 0) await clock.sleep(early, over);
          if (over.aborted) return;
          const next = this.#nextTurn();
          if (next) await this.#check(next, due, tally, onAccepted);
          else pace.miss();
        }
      });
    } finally {
      ending.removeEventListener('abort', end);
      this.#tally = null;
    }
    return tally.report({ seed: this.seed, machines: this.size, missed: pace.missed });
  }

  /** Gives up what is under way, and ends the connections. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#over.abort();
    this.#plane?.connections.abandonConnections();
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
    onAccepted: RunOptions['onAccepted'],
  ): Promise<void> {
    const { machine } = member;
    member.underWay = true;
    const { outcome, counted, retryAfter } = await this.#ask<CheckAnswer>(
      '/v1/check',
      request,
      ({ chain }) => typeof chain === 'string',
      machine.credential,
    );
    member.underWay = false;
    const now = this.#o.clock.monotonic();
    member.heldUntil = now + retryAfter;
    machine.learn(outcome);
    tally.count(counted);
    if (outcome.kind !== 'accepted') return;
    tally.accepted(due, now);
    onAccepted?.({ checkId: request.checkId });
  }

  async #admit(token: EnrolmentToken, signal: AbortSignal): Promise<void> {
    const { clock, connect, eventEvery } = this.#o;
    const place = JSON.stringify([token.address, token.pins]);
    this.#plane ??= { place, connections: connect(token) };
    if (this.#plane.place !== place) throw new Error('These tokens name different planes');
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
      const reading = await this.#ask<EnrolmentAnswer>('/v1/enrolments', request, (body) => body.machine !== undefined);
      if (reading.outcome.kind === 'accepted') {
        this.#members.push({ machine, underWay: false, heldUntil: 0 });
        return;
      }
      if (!passes(reading)) throw new Error(`${machine.name} was not admitted (${reading.counted})`);
      await clock.sleep(Math.max(ENROL_AGAIN_AFTER, reading.retryAfter), signal);
    }
  }

  async #ask<Accepted>(
    path: string,
    body: unknown,
    isExpected: (body: Partial<Accepted>) => boolean,
    credential?: string,
  ): Promise<Reading<Accepted>> {
    const connections = this.#plane?.connections;
    if (!connections) throw new Error('A fleet has no plane before its first token');
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

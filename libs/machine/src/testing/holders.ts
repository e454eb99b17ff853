import { Refusal, type Instant } from '@rollcall/decider';
import type { AcceptCheck, MachineCommand } from '../commands.js';
import type { MachineFact } from '../facts.js';
import { answerTo, machine, type MachineState } from '../machine.js';
import { admit, check, keyHash } from './builders.js';

/** Numbers from a seed, the same for the same seed, each at least 0 and below 1 (mulberry32). */
export const chanceOf = (seed: number): (() => number) => {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
};

/** A token as a holder knows it: the epoch of the record that issued it, and its number. */
type Token = { readonly epoch: number; readonly number: number } | null;

/** The plane as the holders of one machine's credential meet it: the real rules on one stream, and nothing of Postgres. */
export class ChainedPlane {
  state: MachineState = machine.initial();
  now: Instant = Date.UTC(2026, 0, 1, 12);
  epoch = 1;
  /** When each signal of a copy was given. */
  readonly signals: Instant[] = [];
  #lastCheckAt: Instant | null = null;
  readonly #recorded: string[] = [];

  constructor() {
    this.do(admit());
  }

  /** Decides and records. Throws `Refusal`. */
  do(command: MachineCommand): readonly MachineFact[] {
    const decided = machine.decide(this.state, command, { now: this.now, lastCheckAt: this.#lastCheckAt });
    for (const fact of decided) {
      this.state = machine.evolve(this.state, fact);
      if (fact.type === 'CheckedIn') {
        this.#lastCheckAt = this.now;
        this.#recorded.push(fact.checkId);
      }
      if (fact.type === 'CredentialForked') this.signals.push(this.now);
    }
    return decided;
  }

  /** Where among all checks a recorded one is, from 0. */
  placeOf({ command }: Sent): number {
    return this.#recorded.indexOf(command.checkId);
  }

  /** Takes a check off the network: the token of the answer, or the refusal. */
  take({ command, token }: Sent): Token | Refusal {
    try {
      this.do({ ...command, chain: token?.epoch === this.epoch ? token.number : null });
      return { epoch: this.epoch, number: answerTo(this.state, command.boot).chain };
    } catch (error) {
      if (error instanceof Refusal) return error;
      throw error;
    }
  }
}

/** A check on its way; what it presents is read when it arrives. */
export type Sent = { readonly command: AcceptCheck; readonly token: Token };

/**
 * One holder of a credential, as the agent is one: it keeps the body of a check over retries, presents the token of the newest answer that it
 * got, and takes a higher boot when it is told that it is late. A token is on its disk from an end in order to the next start, and at no other time.
 */
export class Holder {
  token: Token = null;
  #counter = 1;
  #bootId: string;
  #sequence = 0;
  #key = 1;
  #unanswered: Sent | null = null;

  constructor(readonly chance: () => number) {
    this.#bootId = this.#newId();
  }

  /** The check that is to be sent: the one that was not answered again, or a new one. */
  next({ anew = false }: { readonly anew?: boolean } = {}): Sent {
    if (!anew && this.#unanswered) return this.#unanswered;
    this.#sequence += 1;
    const command = check({
      keyHash: keyHash(this.#key),
      boot: { counter: this.#counter, id: this.#bootId },
      sequence: this.#sequence,
      checkId: this.#newId(),
    });
    this.#unanswered = { command, token: this.token };
    return this.#unanswered;
  }

  /** An answer has arrived in time. @returns whether the check was accepted */
  hear(answer: Token | Refusal): boolean {
    if (answer instanceof Refusal) {
      if (answer.code === 'stale-check') this.#takeBoot(Number(answer.details['highestBoot']));
      return false;
    }
    this.#unanswered = null;
    this.token = answer;
    return true;
  }

  /** The process ends in order and starts anew. */
  restart(): void {
    this.#begin(this.token);
  }

  /** The process starts anew after it was killed, the power failed, or the disk was full at its end: nothing was left to it. */
  restartWithNothing(): void {
    this.#begin(null);
  }

  /** Registers its next key and goes on with that. Throws `Refusal`. */
  rotate(plane: ChainedPlane): void {
    plane.do({ type: 'StartRotation', keyHash: keyHash(this.#key), nextKeyHash: keyHash(this.#key + 1) });
    this.#key += 1;
    this.#unanswered = null;
  }

  /** Another one with the same memory: the virtual machine was copied as it ran. */
  copyOfMemory(): Holder {
    const copy = new Holder(this.chance);
    copy.token = this.token;
    copy.#counter = this.#counter;
    copy.#bootId = this.#bootId;
    copy.#sequence = this.#sequence;
    copy.#key = this.#key;
    copy.#unanswered = this.#unanswered;
    return copy;
  }

  /** Another one that starts from the same disk, copied as the process ran. */
  copyOfDisk(): Holder {
    const copy = this.copyOfMemory();
    copy.restartWithNothing();
    return copy;
  }

  /** Another one that starts from the same disk, copied when the process had ended in order; this one starts anew, too. */
  copyAtRest(): Holder {
    const copy = this.copyOfMemory();
    copy.restart();
    this.restart();
    return copy;
  }

  #begin(token: Token): void {
    this.#counter += 1;
    this.#bootId = this.#newId();
    this.#sequence = 0;
    this.#unanswered = null;
    this.token = token;
  }

  #takeBoot(highest: number): void {
    this.#counter = Math.max(highest, this.#counter) + 1;
    this.#bootId = this.#newId();
    this.#sequence = 0;
    this.#unanswered = null;
  }

  #newId(): string {
    return Math.floor(this.chance() * 2 ** 52).toString(16);
  }
}

import { Refusal } from '@rollcall/decider';
import type { AcceptCheck } from '../commands.js';
import { answerTo } from '../machine.js';
import { admit, boot, check, checkIdOf, keyHash } from './builders.js';
import type { StreamOnClock } from './record.js';

/**
 * An agent that follows the rules: it counts its boots, presents the token of the newest answer that it got, and keeps the body of a check
 * over retries. The network may lose what it sends and what it is answered.
 */
export class HonestAgent {
  /** The interval of the newest answer that arrived, in seconds. */
  interval = 30;
  #boot = 0;
  #sequence = 0;
  #key = 1;
  #chain: number | null = null;
  /** The stamp of the request that the newest answer carried. */
  #asked: string | null = null;

  constructor(readonly stream: StreamOnClock) {
    stream.do(admit());
  }

  restart(): void {
    this.#boot += 1;
    this.#sequence = 0;
  }

  /** Makes the next check; it can be sent more than once. */
  next(over: Partial<AcceptCheck> = {}): AcceptCheck {
    if (this.#boot === 0) this.restart();
    this.#sequence += 1;
    const of = boot(this.#boot);
    return check({
      keyHash: keyHash(this.#key),
      boot: of,
      sequence: this.#sequence,
      checkId: checkIdOf(of, this.#sequence),
      chain: this.#chain,
      ...over,
    });
  }

  /** Sends a check that arrives; the answer arrives too unless it is lost. Throws `Refusal`. */
  send(command: AcceptCheck, answer: 'arrives' | 'is lost' = 'arrives'): void {
    this.stream.do(command);
    if (answer === 'is lost') return;
    const { interval, chain, logTail } = answerTo(this.stream.state, command.boot);
    this.interval = interval;
    this.#chain = chain;
    this.#asked = logTail;
  }

  /** Uploads what the newest answer asked for, though a newer request may have taken its place; nothing where nothing was asked. */
  upload(): void {
    const stamp = this.#asked;
    if (stamp === null) return;
    this.#asked = null;
    try {
      this.stream.do({ type: 'ReceiveLogTail', keyHash: keyHash(this.#key), stamp });
    } catch (error) {
      if (!(error instanceof Refusal && error.code === 'request-not-pending')) throw error;
    }
  }

  /** Registers the next key and uses it from the next check on. */
  rotate(): void {
    this.stream.do({ type: 'StartRotation', keyHash: keyHash(this.#key), nextKeyHash: keyHash(this.#key + 1) });
    this.#key += 1;
  }
}

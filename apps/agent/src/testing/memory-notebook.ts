import { Notebook, type KeptAnswer, type Key } from '../check/enrolment.js';

/** Remembers in memory what it was given. */
export class MemoryNotebook extends Notebook {
  readonly chains: string[] = [];
  readonly answers: KeptAnswer[] = [];
  readonly boots: number[] = [];
  readonly confirmed: Key[] = [];
  readonly revoked: Key[] = [];

  override keepChain(chain: string): void {
    this.chains.push(chain);
  }

  override keepAnswer(answer: KeptAnswer): void {
    this.answers.push(answer);
  }

  override keepBoot(counter: number): void {
    this.boots.push(counter);
  }

  override keyConfirmed(key: Key): void {
    this.confirmed.push(key);
  }

  override keyRevoked(key: Key): void {
    this.revoked.push(key);
  }
}

import { Injectable } from '@nestjs/common';
import { CODE_LIFE_SECONDS } from '@rollcall/admission';
import { Refusal } from '@rollcall/decider';

/** The most codes that one instance makes within the life of one. */
const MOST = 1_000;
const RETRY_AFTER = 30;

/** Bounds how many codes live at once: nobody is known who asks for one, and a fleet behind one address is one address (O2). */
@Injectable()
export class CodeStarts {
  private readonly starts: number[] = [];

  /** @throws Refusal `slow-down` over the bound. */
  count(now: number = performance.now()): void {
    while (this.starts[0] !== undefined && this.starts[0] <= now - CODE_LIFE_SECONDS * 1_000) this.starts.shift();
    if (this.starts.length >= MOST) throw new Refusal('slow-down', { retryAfter: RETRY_AFTER });
    this.starts.push(now);
  }
}

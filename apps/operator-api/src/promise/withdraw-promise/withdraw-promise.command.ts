import { Command } from '@nestjs/cqrs';
import type { PromiseAnswer } from '@rollcall/wire';
import type { SaidSubject } from '../promise-subject.js';

/** A person takes a promise back. */
export class WithdrawOwnPromise extends Command<PromiseAnswer> {
  constructor(
    readonly personId: string,
    readonly commandId: string,
    readonly subject: SaidSubject,
  ) {
    super();
  }
}

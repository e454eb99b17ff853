import { Command } from '@nestjs/cqrs';
import type { PromiseAnswer } from '@rollcall/wire';
import type { SaidSubject } from '../promise-subject.js';

/** A person promises that something of theirs is there. */
export class MakeOwnPromise extends Command<PromiseAnswer> {
  constructor(
    readonly personId: string,
    readonly commandId: string,
    readonly subject: SaidSubject,
    readonly schedule: string,
  ) {
    super();
  }
}

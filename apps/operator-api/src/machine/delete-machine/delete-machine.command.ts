import { Command } from '@nestjs/cqrs';
import type { DeleteAnswer } from '@rollcall/wire';

/** A person deletes a machine, which revokes its credential. */
export class DeleteOwnedMachine extends Command<DeleteAnswer> {
  constructor(
    readonly personId: string,
    readonly commandId: string,
    /** As the person calls it. */
    readonly machine: string,
  ) {
    super();
  }
}

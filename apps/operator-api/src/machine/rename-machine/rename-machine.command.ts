import { Command } from '@nestjs/cqrs';
import type { RenameAnswer } from '@rollcall/wire';

/** A person names a machine. */
export class RenameOwnedMachine extends Command<RenameAnswer> {
  constructor(
    readonly personId: string,
    readonly commandId: string,
    /** As the person called it so far. */
    readonly machine: string,
    readonly name: string,
  ) {
    super();
  }
}

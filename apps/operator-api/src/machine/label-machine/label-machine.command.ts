import { Command } from '@nestjs/cqrs';
import type { Labels } from '@rollcall/machine';
import type { LabelAnswer } from '@rollcall/wire';

/** A person attaches labels to a machine's node, and takes others away. */
export class LabelOwnedMachine extends Command<LabelAnswer> {
  constructor(
    readonly personId: string,
    readonly commandId: string,
    /** As the person calls it. */
    readonly machine: string,
    readonly set: Labels,
    /** Keys. */
    readonly remove: readonly string[],
  ) {
    super();
  }
}

import { Command } from '@nestjs/cqrs';
import type { PauseAnswer } from '@rollcall/wire';

/** A person takes the pause of a machine back. */
export class ResumeOwnedMachine extends Command<PauseAnswer> {
  constructor(
    readonly personId: string,
    readonly commandId: string,
    /** As the person calls it. */
    readonly machine: string,
  ) {
    super();
  }
}

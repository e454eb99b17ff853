import { Command } from '@nestjs/cqrs';
import type { PauseAnswer } from '@rollcall/wire';

/** A person takes a machine out of work. */
export class PauseOwnedMachine extends Command<PauseAnswer> {
  constructor(
    readonly personId: string,
    readonly commandId: string,
    /** As the person calls it. */
    readonly machine: string,
    readonly note: string,
    /** RFC 3339, UTC; or so many seconds; null: until somebody takes it back. */
    readonly until: string | { readonly seconds: number } | null,
  ) {
    super();
  }
}

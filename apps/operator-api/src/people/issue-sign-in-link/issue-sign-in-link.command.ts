import { Command } from '@nestjs/cqrs';
import type { PersonView } from '@rollcall/wire';

/** The first person lets somebody whom they added sign in once more. */
export class LetSignIn extends Command<PersonView> {
  constructor(
    readonly by: string,
    readonly commandId: string,
    readonly personId: string,
    readonly linkHash: string,
  ) {
    super();
  }
}

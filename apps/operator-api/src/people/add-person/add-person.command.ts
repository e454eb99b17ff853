import { Command } from '@nestjs/cqrs';
import type { PersonView } from '@rollcall/wire';

/** The first person lets somebody use the plane. */
export class AddSomebody extends Command<PersonView> {
  constructor(
    readonly by: string,
    /** Also the id of the new person. */
    readonly commandId: string,
    readonly name: string,
    readonly linkHash: string,
  ) {
    super();
  }
}

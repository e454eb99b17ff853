import { Command } from '@nestjs/cqrs';
import type { PersonView } from '@rollcall/wire';

/** The first person takes somebody's access away. */
export class RemoveSomebody extends Command<PersonView> {
  constructor(
    readonly by: string,
    readonly commandId: string,
    readonly personId: string,
  ) {
    super();
  }
}

import { Command } from '@nestjs/cqrs';
import type { WorkspaceAnswer } from '@rollcall/wire';

/** A person makes a workspace. */
export class CreateOwnWorkspace extends Command<WorkspaceAnswer> {
  constructor(
    readonly personId: string,
    /** Also the id of the workspace. */
    readonly commandId: string,
    readonly name: string,
  ) {
    super();
  }
}

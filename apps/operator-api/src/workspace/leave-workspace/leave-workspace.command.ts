import { Command } from '@nestjs/cqrs';

/** A member leaves a workspace of somebody else. */
export class LeaveOthersWorkspace extends Command<void> {
  constructor(
    readonly personId: string,
    readonly commandId: string,
    readonly workspaceId: string,
  ) {
    super();
  }
}

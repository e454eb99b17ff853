import { Command } from '@nestjs/cqrs';
import type { WorkspaceChange } from '@rollcall/person';
import type { WorkspaceAnswer } from '@rollcall/wire';

/** The owner of a workspace changes who sees it, or what it shows. */
export class ChangeWorkspace extends Command<WorkspaceAnswer> {
  constructor(
    readonly commandId: string,
    readonly workspaceId: string,
    readonly change: WorkspaceChange,
  ) {
    super();
  }
}

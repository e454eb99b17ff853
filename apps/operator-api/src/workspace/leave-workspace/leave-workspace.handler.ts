import { CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { EventStore, part } from '@rollcall/event-store';
import { memberships, membershipsStream, workspace, workspaceStream } from '@rollcall/person';
import { LeaveOthersWorkspace } from './leave-workspace.command.js';

/** Records that a member has left, in the workspace and in their own stream. To whoever is none it is not there. */
@CommandHandler(LeaveOthersWorkspace)
export class LeaveWorkspaceHandler implements ICommandHandler<LeaveOthersWorkspace> {
  constructor(private readonly store: EventStore) {}

  async execute({ personId, commandId, workspaceId }: LeaveOthersWorkspace): Promise<void> {
    await this.store.decideTogether(
      [
        part(workspace, workspaceStream(workspaceId), { type: 'RemoveMember', by: personId, personId }),
        part(memberships, membershipsStream(personId), { type: 'LeaveWorkspace', workspaceId }),
      ],
      { actor: { kind: 'person', id: personId }, commandId },
    );
  }
}

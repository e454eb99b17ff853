import { CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { EventStore, part } from '@rollcall/event-store';
import { memberships, membershipsStream, workspace, workspaceStream } from '@rollcall/person';
import type { WorkspaceAnswer } from '@rollcall/wire';
import { anotherCommand } from '../../machine/another-command.js';
import { summaryOf } from '../seen-workspaces.js';
import { CreateOwnWorkspace } from './create-workspace.command.js';

/** Makes a workspace, and puts it among those of its owner. Its id is the command's: a repetition finds the same stream. */
@CommandHandler(CreateOwnWorkspace)
export class CreateWorkspaceHandler implements ICommandHandler<CreateOwnWorkspace> {
  constructor(private readonly store: EventStore) {}

  async execute({ personId, commandId: id, name }: CreateOwnWorkspace): Promise<WorkspaceAnswer> {
    const before = await this.store.view(workspace, { stream: workspaceStream(id) });
    // Somebody else's, so nothing of it is told, and nothing recorded.
    if (before?.state && before.state.owner !== personId) throw anotherCommand();
    const [{ state }] = await this.store.decideTogether(
      [
        part(workspace, workspaceStream(id), { type: 'CreateWorkspace', name, owner: personId }),
        part(memberships, membershipsStream(personId), { type: 'JoinWorkspace', workspaceId: id }),
      ],
      { actor: { kind: 'person', id: personId }, commandId: id },
    );
    if (state?.owner !== personId || state.name !== name) throw anotherCommand();
    return { workspace: summaryOf(id, state, personId) };
  }
}

import { CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { Refusal } from '@rollcall/decider';
import { EventStore, part } from '@rollcall/event-store';
import { memberships, membershipsStream, person, personStream, workspace, workspaceStream } from '@rollcall/person';
import type { WorkspaceAnswer } from '@rollcall/wire';
import { SeenWorkspaces, summaryOf } from '../seen-workspaces.js';
import { ChangeWorkspace } from './change-workspace.command.js';

/** Records a change. Who becomes a member or stops being one finds that in their own stream, by the same append. */
@CommandHandler(ChangeWorkspace)
export class ChangeWorkspaceHandler implements ICommandHandler<ChangeWorkspace> {
  constructor(
    private readonly store: EventStore,
    private readonly workspaces: SeenWorkspaces,
  ) {}

  async execute({ commandId, workspaceId, change }: ChangeWorkspace): Promise<WorkspaceAnswer> {
    const { by } = change;
    const { owner } = await this.workspaces.find(workspaceId, by);
    if (owner !== by) throw new Refusal('workspace-not-found');
    const stream = workspaceStream(workspaceId);
    const options = { actor: { kind: 'person', id: by }, commandId } as const;
    if (change.type === 'AddMember' || change.type === 'RemoveMember') {
      const { personId } = change;
      const known = await this.store.view(person, { stream: personStream(personId) });
      // Who was removed while they joined can still be taken out.
      const isGone = known?.state.removed === true && change.type === 'AddMember';
      if (!known || known.state.name === null || isGone) throw new Refusal('person-not-found');
      const type = change.type === 'AddMember' ? 'JoinWorkspace' : 'LeaveWorkspace';
      await this.store.decideTogether(
        [part(workspace, stream, change), part(memberships, membershipsStream(personId), { type, workspaceId })],
        options,
      );
    } else await this.store.decide(workspace, { stream }, change, options);
    return { workspace: summaryOf(workspaceId, await this.workspaces.find(workspaceId, by), by) };
  }
}

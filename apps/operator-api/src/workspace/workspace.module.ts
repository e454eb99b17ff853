import { Module } from '@nestjs/common';
import { MachineModule } from '../machine/machine.module.js';
import { PeopleModule } from '../people/people.module.js';
import { AddMemberController } from './add-member/add-member.controller.js';
import { BindDirectoryController } from './bind-directory/bind-directory.controller.js';
import { BoundNodes } from './bound-nodes.js';
import { ChangeWorkspaceHandler } from './change-workspace/change-workspace.handler.js';
import { CreateWorkspaceController } from './create-workspace/create-workspace.controller.js';
import { CreateWorkspaceHandler } from './create-workspace/create-workspace.handler.js';
import { LeaveWorkspaceController } from './leave-workspace/leave-workspace.controller.js';
import { LeaveWorkspaceHandler } from './leave-workspace/leave-workspace.handler.js';
import { ListWorkspacesController } from './list-workspaces/list-workspaces.controller.js';
import { RemoveMemberController } from './remove-member/remove-member.controller.js';
import { SeenWorkspaces } from './seen-workspaces.js';
import { ShowWorkspaceController } from './show-workspace/show-workspace.controller.js';
import { UnbindDirectoryController } from './unbind-directory/unbind-directory.controller.js';

/** People share directories on their nodes, and nothing else of these (O29). */
@Module({
  imports: [MachineModule, PeopleModule],
  controllers: [
    CreateWorkspaceController,
    ListWorkspacesController,
    ShowWorkspaceController,
    AddMemberController,
    RemoveMemberController,
    LeaveWorkspaceController,
    BindDirectoryController,
    UnbindDirectoryController,
  ],
  providers: [SeenWorkspaces, BoundNodes, CreateWorkspaceHandler, ChangeWorkspaceHandler, LeaveWorkspaceHandler],
})
export class WorkspaceModule {}

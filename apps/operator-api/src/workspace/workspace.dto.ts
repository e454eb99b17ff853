import { ApiProperty } from '@nestjs/swagger';
import type {
  BindingView,
  CreateWorkspaceRequest,
  LeaveWorkspaceRequest,
  PresenceWord,
  WorkspaceAnswer,
  WorkspaceBindingRequest,
  WorkspaceList,
  WorkspaceMemberRequest,
  WorkspaceSummary,
  WorkspaceView,
} from '@rollcall/wire';
import { IsString, IsUUID, Length, Matches } from 'class-validator';
import { IsComparedId } from '../access/compared-id.js';
import { PersonDto } from '../session/person.dto.js';
import { IsDisplayName, IsDisplayText, NAME_LENGTH } from '../access/display-name.js';

const LONGEST_DIRECTORY = 1_024;

class WorkspaceCommandDto {
  @ApiProperty({ format: 'uuid', description: 'Made by the caller and kept over retries.' })
  @IsUUID()
  commandId!: string;
}

export class LeaveWorkspaceDto extends WorkspaceCommandDto implements LeaveWorkspaceRequest {}

export class CreateWorkspaceDto extends WorkspaceCommandDto implements CreateWorkspaceRequest {
  @ApiProperty({ minLength: 1, maxLength: NAME_LENGTH })
  @IsDisplayName()
  name!: string;
}

export class WorkspaceMemberDto extends WorkspaceCommandDto implements WorkspaceMemberRequest {
  @ApiProperty({ format: 'uuid' })
  @IsComparedId()
  person!: string;
}

export class WorkspaceBindingDto extends WorkspaceCommandDto implements WorkspaceBindingRequest {
  @ApiProperty({ description: 'As its owner calls it.' })
  @IsString()
  @Length(1, NAME_LENGTH)
  machine!: string;

  @ApiProperty({ description: 'An absolute path.', example: '/srv/robots', maxLength: LONGEST_DIRECTORY })
  @IsDisplayText(LONGEST_DIRECTORY)
  @Matches(/^\/(?!.*(^|\/)\.{1,2}(\/|$))/, { message: '$property must be an absolute path without . and ..' })
  directory!: string;
}

class WorkspaceSummaryDto implements WorkspaceSummary {
  @ApiProperty({ format: 'uuid' })
  id!: string;

  @ApiProperty()
  name!: string;

  @ApiProperty()
  isOwner!: boolean;
}

export class WorkspaceListDto implements WorkspaceList {
  @ApiProperty({ type: [WorkspaceSummaryDto] })
  workspaces!: readonly WorkspaceSummaryDto[];
}

export class WorkspaceAnswerDto implements WorkspaceAnswer {
  @ApiProperty()
  workspace!: WorkspaceSummaryDto;
}

class BoundMachineDto {
  @ApiProperty({ format: 'uuid' })
  id!: string;

  @ApiProperty({ type: String, nullable: true })
  name!: string | null;

  @ApiProperty({ enum: ['not-yet-arrived', 'present', 'absent'] })
  presence!: PresenceWord;
}

class BindingViewDto implements BindingView {
  @ApiProperty()
  node!: string;

  @ApiProperty()
  directory!: string;

  @ApiProperty({ type: BoundMachineDto, nullable: true, description: 'The machine of the node that lives.' })
  machine!: BoundMachineDto | null;
}

export class WorkspaceViewDto implements WorkspaceView {
  @ApiProperty()
  workspace!: WorkspaceSummaryDto;

  @ApiProperty()
  owner!: PersonDto;

  @ApiProperty({ type: [PersonDto], description: 'Without the owner.' })
  members!: readonly PersonDto[];

  @ApiProperty({ type: [BindingViewDto] })
  bindings!: readonly BindingViewDto[];
}

import { ApiProperty } from '@nestjs/swagger';
import { STOP_REASONS } from '@rollcall/machine';
import type {
  AsOf,
  BlockerView,
  LifecycleWord,
  MachineView,
  PauseView,
  RefusedClaimsView,
  PresenceWord,
} from '@rollcall/wire';

export const PRESENCES = ['not-yet-arrived', 'present', 'absent'] as const satisfies readonly PresenceWord[];
export const LIFECYCLES = [
  'running',
  'unknown',
  'stopping',
  'stopped',
  'deleted',
] as const satisfies readonly LifecycleWord[];

/** What a blocker means. */
export class BlockerMeaningDto implements Omit<BlockerView, 'since'> {
  @ApiProperty()
  code!: string;

  @ApiProperty({ description: 'What it means.' })
  sentence!: string;

  @ApiProperty({ description: 'Who can fix it.' })
  fix!: string;

  @ApiProperty({ description: 'Whether a machine gets no work while it stands.' })
  blocksWork!: boolean;
}

export class BlockerDto extends BlockerMeaningDto implements BlockerView {
  @ApiProperty({ format: 'date-time' })
  since!: string;
}

class RequestsDto {
  @ApiProperty({
    type: String,
    format: 'date-time',
    nullable: true,
    description: 'The stamp of the request for the tail of its log, until an upload echoes it.',
  })
  logTail!: string | null;

  @ApiProperty({
    type: String,
    format: 'date-time',
    nullable: true,
    description: 'The stamp of the request for a newer credential, until one has succeeded.',
  })
  rotation!: string | null;
}

class RefusedClaimsDto implements RefusedClaimsView {
  @ApiProperty({ type: 'integer', description: 'Of many within a minute one is counted.' })
  count!: number;

  @ApiProperty({ format: 'date-time' })
  first!: string;

  @ApiProperty({ format: 'date-time' })
  last!: string;

  @ApiProperty({ type: String, nullable: true, description: 'What the last of them called itself: no proof.' })
  hostname!: string | null;
}

export class PauseDto implements PauseView {
  @ApiProperty({ format: 'date-time' })
  since!: string;

  @ApiProperty({ type: String, format: 'date-time', nullable: true, description: 'When it is over by itself.' })
  until!: string | null;

  @ApiProperty()
  note!: string;

  @ApiProperty({ format: 'uuid', description: 'The person whose word it is.' })
  by!: string;
}

export class MachineDto implements MachineView {
  @ApiProperty({ format: 'uuid' })
  id!: string;

  @ApiProperty({
    type: String,
    nullable: true,
    description: 'Its name: what a person called it, or what it said first.',
  })
  name!: string | null;

  @ApiProperty({ type: String, nullable: true, description: 'What it reports. A rename does not change it.' })
  hostname!: string | null;

  @ApiProperty({ enum: PRESENCES })
  presence!: PresenceWord;

  @ApiProperty({ type: String, format: 'date-time', nullable: true })
  lastCheckAt!: string | null;

  @ApiProperty({ enum: [...LIFECYCLES, null], type: String, nullable: true })
  lifecycle!: LifecycleWord | null;

  @ApiProperty({ enum: [...STOP_REASONS, null], type: String, nullable: true })
  stopReason!: MachineView['stopReason'];

  @ApiProperty({ type: [BlockerDto] })
  blockers!: readonly BlockerDto[];

  @ApiProperty({ description: 'It is present, runs, and nothing that blocks work stands.' })
  canTakeWork!: boolean;

  @ApiProperty({ description: 'Its state in one sentence for a person.' })
  sentence!: string;

  @ApiProperty({ description: 'What it was asked for and has not answered.' })
  requests!: RequestsDto;

  @ApiProperty({
    type: 'integer',
    nullable: true,
    description: 'The next generation of its credential, registered and not used yet.',
  })
  pendingGeneration!: number | null;

  @ApiProperty({
    type: RefusedClaimsDto,
    nullable: true,
    description: 'What was refused to others that claimed to be this installation.',
  })
  refusedClaims!: RefusedClaimsDto | null;

  @ApiProperty({ type: String, format: 'date-time', nullable: true, description: 'Since when it is absent.' })
  absentSince!: string | null;

  @ApiProperty({ type: PauseDto, nullable: true, description: 'The pause that is in force.' })
  pause!: PauseDto | null;

  @ApiProperty({ type: 'object', additionalProperties: { type: 'string' }, description: 'What is attached to it.' })
  labels!: { readonly [key: string]: string };

  @ApiProperty({ type: String, nullable: true })
  agentVersion!: string | null;

  @ApiProperty({ type: String, nullable: true })
  platform!: string | null;

  @ApiProperty({ format: 'uuid', description: 'The person that it belongs to.' })
  owner!: string;

  @ApiProperty({ type: 'integer', nullable: true, description: 'Of its credential.' })
  generation!: number | null;

  @ApiProperty({ type: 'integer', nullable: true, description: 'Seconds of silence after which it counts as absent.' })
  window!: number | null;

  @ApiProperty({ format: 'date-time' })
  admittedAt!: string;

  @ApiProperty({ type: String, format: 'date-time', nullable: true })
  deletedAt!: string | null;

  @ApiProperty({ type: 'integer', description: 'Of the newest fact about it.' })
  revision!: number;
}

export class AsOfDto implements AsOf {
  @ApiProperty({
    type: String,
    format: 'date-time',
    nullable: true,
    description: 'The newest time that this answer knows.',
  })
  asOf!: string | null;

  @ApiProperty({ description: 'True when that is older than 15 s.' })
  behind!: boolean;
}

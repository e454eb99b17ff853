import { ApiProperty } from '@nestjs/swagger';
import type { BlockerCount, LifecycleWord, PresenceAnswer, PresenceWord, StateCount } from '@rollcall/wire';
import { AsOfDto, LIFECYCLES, MachineDto, PRESENCES } from '../../machine/machine.dto.js';

class StateCountDto implements StateCount {
  @ApiProperty({ enum: PRESENCES })
  presence!: PresenceWord;

  @ApiProperty({
    enum: [...LIFECYCLES, null],
    type: String,
    nullable: true,
    description: 'null until the first check.',
  })
  lifecycle!: LifecycleWord | null;

  @ApiProperty({ description: 'They are present, run, and nothing that blocks work stands.' })
  canTakeWork!: boolean;

  @ApiProperty({ type: 'integer' })
  machines!: number;
}

class BlockerCountDto implements BlockerCount {
  @ApiProperty()
  code!: string;

  @ApiProperty({ description: 'Whether a machine gets no work while it stands.' })
  blocksWork!: boolean;

  @ApiProperty({ type: 'integer', description: 'On how many machines it stands, present or not.' })
  machines!: number;

  @ApiProperty({ type: 'integer', description: 'On how many of these that are present.' })
  present!: number;
}

class MachinePageDto {
  @ApiProperty({ type: [MachineDto] })
  machines!: readonly MachineDto[];

  @ApiProperty({ type: String, nullable: true, description: 'For `after`; null on the last page.' })
  next!: string | null;
}

/** Machines by what they are. */
export class PresenceCountsDto extends AsOfDto {
  @ApiProperty({ type: 'integer' })
  total!: number;

  @ApiProperty({ type: 'integer', description: 'Present, but cannot take work.' })
  blocked!: number;

  @ApiProperty({
    type: [StateCountDto],
    description: 'Each machine is in one of them. Those without a machine are left out.',
  })
  states!: readonly StateCountDto[];

  @ApiProperty({ type: [BlockerCountDto], description: 'By code. Those that stand nowhere are left out.' })
  blockers!: readonly BlockerCountDto[];
}

export class PresenceAnswerDto extends PresenceCountsDto implements PresenceAnswer {
  @ApiProperty({ type: MachinePageDto, nullable: true, description: 'null without `limit`.' })
  page!: MachinePageDto | null;
}

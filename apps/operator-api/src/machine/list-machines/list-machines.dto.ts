import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { LIST_LIMIT } from '@rollcall/read-models';
import type { MachineList, PresenceWord } from '@rollcall/wire';
import { Type } from 'class-transformer';
import { IsIn, IsInt, IsOptional, IsString, IsUUID, Length, Matches, Max, Min } from 'class-validator';
import { AsOfDto, MachineDto, PRESENCES } from '../machine.dto.js';

export class ListMachinesDto {
  @ApiPropertyOptional({ description: 'A part of the name or hostname, in any case.', maxLength: 64 })
  @IsOptional()
  @IsString()
  @Length(1, 64)
  name?: string;

  @ApiPropertyOptional({ enum: PRESENCES })
  @IsOptional()
  @IsIn(PRESENCES)
  presence?: PresenceWord;

  @ApiPropertyOptional({
    description: 'Only those on which this blocker stands, present or not.',
    example: 'disk-full',
  })
  @IsOptional()
  @Matches(/^[a-z][a-z0-9-]{0,63}$/, { message: '$property must be the code of a blocker' })
  blocker?: string;

  @ApiPropertyOptional({
    enum: ['true', 'false'],
    default: 'false',
    description: 'Only those that are present, but cannot take work.',
  })
  @IsOptional()
  @IsIn(['true', 'false'])
  blocked?: 'true' | 'false';

  @ApiPropertyOptional({ enum: ['true', 'false'], default: 'false', description: 'Deleted machines too.' })
  @IsOptional()
  @IsIn(['true', 'false'])
  deleted?: 'true' | 'false';

  @ApiPropertyOptional({ description: 'The `next` of the page before.' })
  @IsOptional()
  @IsUUID()
  after?: string;

  @ApiPropertyOptional({ type: 'integer', minimum: 1, maximum: LIST_LIMIT, default: 100 })
  @IsOptional()
  @Type(() => Number)
  @IsInt()
  @Min(1)
  @Max(LIST_LIMIT)
  limit?: number;
}

export class MachineListDto extends AsOfDto implements MachineList {
  @ApiProperty({ type: [MachineDto] })
  machines!: readonly MachineDto[];

  @ApiProperty({ type: String, nullable: true, description: 'For `after`; null on the last page.' })
  next!: string | null;
}

import { ApiPropertyOptional } from '@nestjs/swagger';
import { LIST_LIMIT, type ListMachines } from '@rollcall/read-models';
import type { LifecycleWord, PresenceWord } from '@rollcall/wire';
import { Type } from 'class-transformer';
import { IsIn, IsInt, IsOptional, IsString, IsUUID, Length, Matches, Max, Min } from 'class-validator';
import { LIFECYCLES, PRESENCES } from './machine.dto.js';

/** Which machines of the caller's, in a query. */
export class MachineFilterDto {
  @ApiPropertyOptional({ description: 'A part of the name or hostname, in any case.', maxLength: 64 })
  @IsOptional()
  @IsString()
  @Length(1, 64)
  name?: string;

  @ApiPropertyOptional({ enum: PRESENCES })
  @IsOptional()
  @IsIn(PRESENCES)
  presence?: PresenceWord;

  @ApiPropertyOptional({ enum: LIFECYCLES })
  @IsOptional()
  @IsIn(LIFECYCLES)
  lifecycle?: LifecycleWord;

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

  @ApiPropertyOptional({ description: 'Only those with this label: `key`, or `key=value`.', example: 'site=berlin' })
  @IsOptional()
  @IsString()
  @Length(1, 256)
  label?: string;

  @ApiPropertyOptional({ enum: ['true', 'false'], default: 'false', description: 'Deleted machines too.' })
  @IsOptional()
  @IsIn(['true', 'false'])
  deleted?: 'true' | 'false';

  @ApiPropertyOptional({ description: 'The `next` of the page before.' })
  @IsOptional()
  @IsUUID()
  after?: string;

  @ApiPropertyOptional({ type: 'integer', minimum: 1, maximum: LIST_LIMIT, description: 'Machines of a page.' })
  @IsOptional()
  @Type(() => Number)
  @IsInt()
  @Min(1)
  @Max(LIST_LIMIT)
  limit?: number;
}

/** The same as the read model is asked it. */
export const whichMachines = (query: MachineFilterDto, owner: string): ListMachines => {
  const { deleted, blocked, label, ...rest } = query;
  return {
    ...rest,
    owner,
    includeDeleted: deleted === 'true',
    blocked: blocked === 'true',
    ...(label === undefined ? {} : { label: labelOf(label) }),
  };
};

const labelOf = (text: string): NonNullable<ListMachines['label']> => {
  const equals = text.indexOf('=');
  return equals < 0 ? { key: text, value: null } : { key: text.slice(0, equals), value: text.slice(equals + 1) };
};

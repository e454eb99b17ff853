import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { HISTORY_LIMIT } from '@rollcall/read-models';
import type { History, HistoryEntry } from '@rollcall/wire';
import { Type } from 'class-transformer';
import { IsInt, IsOptional, Max, Min } from 'class-validator';
import { AsOfDto } from '../machine.dto.js';

export class ShowHistoryDto {
  @ApiPropertyOptional({ type: 'integer', minimum: 1, maximum: HISTORY_LIMIT, default: 200 })
  @IsOptional()
  @Type(() => Number)
  @IsInt()
  @Min(1)
  @Max(HISTORY_LIMIT)
  limit?: number;
}

class HistoryMachineDto {
  @ApiProperty({ format: 'uuid' })
  id!: string;

  @ApiProperty({ type: String, nullable: true })
  name!: string | null;
}

class HistoryEntryDto {
  @ApiProperty({ enum: ['event', 'checks', 'not-observed'] })
  kind!: HistoryEntry['kind'];

  @ApiProperty({ format: 'date-time' })
  at!: string;

  @ApiProperty({ description: 'In one sentence for a person.' })
  sentence!: string;

  @ApiPropertyOptional({ format: 'date-time', description: '`checks`, `not-observed`: the end of it.' })
  until?: string;

  @ApiPropertyOptional({ type: 'integer', description: '`event`, `checks`: its place in the order of facts.' })
  revision?: number;

  @ApiPropertyOptional({ description: '`event`: what happened.' })
  type?: string;

  @ApiPropertyOptional({
    type: 'object',
    additionalProperties: { type: 'string' },
    description: '`event`: who did it.',
  })
  actor?: object;

  @ApiPropertyOptional({ type: 'object', additionalProperties: true, description: '`event`: as it was recorded.' })
  body?: object;

  @ApiPropertyOptional({ type: 'integer', description: '`checks`: how many.' })
  count?: number;

  @ApiPropertyOptional({ enum: ['running', 'stopping'], description: '`checks`: what they said.' })
  said?: string;
}

export class HistoryDto extends AsOfDto implements History {
  @ApiProperty()
  machine!: HistoryMachineDto;

  @ApiProperty({ type: [HistoryEntryDto], description: 'Oldest first.' })
  entries!: readonly HistoryEntry[];
}

import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { HISTORY_LIMIT } from '@rollcall/read-models';
import type { History, HistoryEntry, HistoryPage } from '@rollcall/wire';
import { Type } from 'class-transformer';
import { IsInt, IsOptional, Matches, Max, Min } from 'class-validator';
import { IsNotBefore, IsPointInTime } from '../../access/point-in-time.js';
import { AsOfDto } from '../machine.dto.js';

export class ShowHistoryDto {
  @ApiPropertyOptional({ type: 'integer', minimum: 1, maximum: HISTORY_LIMIT, default: 200 })
  @IsOptional()
  @Type(() => Number)
  @IsInt()
  @Min(1)
  @Max(HISTORY_LIMIT)
  limit?: number;

  @ApiPropertyOptional({
    description:
      'Asks for a page of the whole past from the record, oldest first: `start`, or the `next` of the page before. Without it: the newest lines.',
  })
  @IsOptional()
  @Matches(/^(start|\d{1,10}(\.\d{1,15}){4})$/)
  after?: string;

  @ApiPropertyOptional({ format: 'date-time', description: 'With `after`: nothing that was recorded before.' })
  @IsOptional()
  @IsPointInTime()
  from?: string;

  @ApiPropertyOptional({ format: 'date-time', description: 'With `after`: nothing that was recorded later.' })
  @IsOptional()
  @IsPointInTime()
  @IsNotBefore('from')
  to?: string;
}

class HistoryMachineDto {
  @ApiProperty({ format: 'uuid' })
  id!: string;

  @ApiProperty({ type: String, nullable: true })
  name!: string | null;
}

class HistoryEntryDto {
  @ApiProperty({ enum: ['event', 'checks', 'refused', 'not-observed'] })
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

  @ApiPropertyOptional({
    type: 'integer',
    nullable: true,
    description:
      '`checks` of a page, `refused`: of the credential that was presented; null: too old to be known but by its hash.',
  })
  generation?: number | null;

  @ApiPropertyOptional({ description: '`checks` of a page: it has begun on the page before; the two are one run.' })
  continues?: boolean;

  @ApiPropertyOptional({ description: '`refused`: why.' })
  code?: string;

  @ApiPropertyOptional({ description: '`refused`: of the credential that was presented, SHA-256.' })
  keyHash?: string;

  @ApiPropertyOptional({
    type: String,
    format: 'date-time',
    nullable: true,
    description: '`refused`: the check before it.',
  })
  lastAcceptedAt?: string | null;
}

class FactsReadDto {
  @ApiProperty({ type: 'integer' })
  through!: number;

  @ApiProperty({ type: 'integer' })
  recorded!: number;
}

export class HistoryDto extends AsOfDto implements History {
  @ApiProperty()
  machine!: HistoryMachineDto;

  @ApiProperty({ type: [HistoryEntryDto], description: 'Oldest first.' })
  entries!: readonly HistoryEntry[];

  @ApiPropertyOptional({ type: String, nullable: true, description: 'Of a page: for `after`; null on the last page.' })
  next?: HistoryPage['next'];

  @ApiPropertyOptional({ description: 'Of a page: how far this has come, of how many facts.' })
  facts?: FactsReadDto;
}

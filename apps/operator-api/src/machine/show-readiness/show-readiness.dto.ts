import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { EPISODE_LIMIT, EPISODE_PLACE } from '@rollcall/read-models';
import type { EpisodeView, Readiness } from '@rollcall/wire';
import { Type } from 'class-transformer';
import { IsInt, IsOptional, Matches, Max, Min } from 'class-validator';
import { AsOfDto, BlockerDto } from '../machine.dto.js';

export class ShowReadinessDto {
  @ApiPropertyOptional({ description: 'The `next` of the page before.' })
  @IsOptional()
  @Matches(EPISODE_PLACE, { message: '$property must be the `next` of a page' })
  after?: string;

  @ApiPropertyOptional({ type: 'integer', minimum: 1, maximum: EPISODE_LIMIT, default: 100 })
  @IsOptional()
  @Type(() => Number)
  @IsInt()
  @Min(1)
  @Max(EPISODE_LIMIT)
  limit?: number;
}

class ReadinessMachineDto {
  @ApiProperty({ format: 'uuid' })
  id!: string;
}

class EpisodeDto extends BlockerDto implements EpisodeView {
  @ApiProperty({ type: String, format: 'date-time', nullable: true, description: 'null while it stands.' })
  until!: string | null;

  @ApiProperty({ type: 'integer', description: 'How long it lasted, or has lasted so far, in seconds.' })
  seconds!: number;
}

export class ReadinessDto extends AsOfDto implements Readiness {
  @ApiProperty()
  machine!: ReadinessMachineDto;

  @ApiProperty({ type: [EpisodeDto], description: 'The newest first.' })
  episodes!: readonly EpisodeDto[];

  @ApiProperty({ type: String, nullable: true, description: 'For `after`; null on the last page.' })
  next!: string | null;
}

import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import type { BlockerList, BlockerSummary } from '@rollcall/wire';
import { IsIn, IsOptional } from 'class-validator';
import { AsOfDto, BlockerMeaningDto } from '../machine.dto.js';

export class ListBlockersDto {
  @ApiPropertyOptional({ enum: ['true', 'false'], default: 'false', description: 'The whole catalogue.' })
  @IsOptional()
  @IsIn(['true', 'false'])
  all?: 'true' | 'false';
}

class BlockerSummaryDto extends BlockerMeaningDto implements BlockerSummary {
  @ApiProperty({ description: 'False for a code of a newer agent: the plane does not know what it means.' })
  known!: boolean;

  @ApiProperty({ description: 'What on the machine the finding rests on.' })
  dependsOn!: string;

  @ApiProperty({ type: 'integer', description: 'Seconds from the cause to the plane knowing it, at most.' })
  visibleWithin!: number;

  @ApiProperty({ type: 'integer', description: 'On how many machines it stands, present or not.' })
  machines!: number;

  @ApiProperty({
    type: String,
    format: 'date-time',
    nullable: true,
    description: 'Since when on the first of them; null where it stands on none.',
  })
  since!: string | null;

  @ApiProperty({ type: 'integer', description: 'For how long it has stood on all of them together, in seconds.' })
  seconds!: number;
}

export class BlockerListDto extends AsOfDto implements BlockerList {
  @ApiProperty({ type: [BlockerSummaryDto], description: 'In the order of the catalogue, then what is not known.' })
  blockers!: readonly BlockerSummaryDto[];
}

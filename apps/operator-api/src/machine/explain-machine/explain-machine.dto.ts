import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import type { Why, WhyBasis } from '@rollcall/wire';
import { IsOptional } from 'class-validator';
import { IsPointInTime } from '../../access/point-in-time.js';
import { AsOfDto, MachineDto } from '../machine.dto.js';

export class ExplainMachineDto {
  @ApiPropertyOptional({
    format: 'date-time',
    description: 'The time that is asked about. Without it: now, as far as the plane has heard.',
  })
  @IsOptional()
  @IsPointInTime()
  at?: string;
}

class WhyBasisDto {
  @ApiProperty({ enum: ['event', 'check', 'not-observed'] })
  kind!: WhyBasis['kind'];

  @ApiProperty({ format: 'date-time' })
  at!: string;

  @ApiPropertyOptional({ type: 'integer', description: '`event`, `check`: its place in the order of facts.' })
  revision?: number;

  @ApiPropertyOptional({ description: '`event`: what happened.' })
  type?: string;

  @ApiPropertyOptional({ enum: ['running', 'stopping'], description: '`check`: what it said.' })
  said?: string;

  @ApiPropertyOptional({ format: 'date-time', description: '`not-observed`: the end of it.' })
  until?: string;
}

export class WhyDto extends AsOfDto implements Why {
  @ApiProperty({ description: 'As it was then.' })
  machine!: MachineDto;

  @ApiProperty({ description: 'Why it was so, in one sentence for a person.' })
  sentence!: string;

  @ApiProperty({ type: [WhyBasisDto], description: 'What that rests on, the oldest first.' })
  basis!: readonly WhyBasis[];
}

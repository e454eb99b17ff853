import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import type { PauseAnswer, PauseRequest } from '@rollcall/wire';
import { IsInt, IsOptional, IsUUID, Max, Min } from 'class-validator';
import { IsDisplayText } from '../../access/display-name.js';
import { IsPointInTime } from '../../access/point-in-time.js';

/** Code points of a note. */
const NOTE_LENGTH = 200;
const [SHORTEST_SECONDS, LONGEST_SECONDS] = [60, 365 * 86_400];

export class PauseMachineDto implements PauseRequest {
  @ApiProperty({ format: 'uuid', description: 'Made by the caller and kept over retries.' })
  @IsUUID()
  commandId!: string;

  @ApiProperty({ minLength: 1, maxLength: NOTE_LENGTH, description: 'Why, for whoever wonders.' })
  @IsDisplayText(NOTE_LENGTH)
  note!: string;

  @ApiPropertyOptional({
    type: String,
    format: 'date-time',
    nullable: true,
    description: 'When it is over by itself; not together with `for`. Without both only a person ends it.',
  })
  @IsOptional()
  @IsPointInTime()
  until?: string | null;

  @ApiPropertyOptional({
    type: 'integer',
    minimum: SHORTEST_SECONDS,
    maximum: LONGEST_SECONDS,
    nullable: true,
    description: 'After how many seconds it is over by itself.',
  })
  @IsOptional()
  @IsInt()
  @Min(SHORTEST_SECONDS)
  @Max(LONGEST_SECONDS)
  for?: number | null;
}

class PauseInForceDto {
  @ApiProperty()
  note!: string;

  @ApiProperty({ type: String, format: 'date-time', nullable: true })
  until!: string | null;
}

class PausedMachineDto {
  @ApiProperty({ format: 'uuid' })
  id!: string;

  @ApiProperty({ type: PauseInForceDto, nullable: true, description: 'null: none is in force.' })
  pause!: PauseInForceDto | null;
}

export class PauseAnswerDto implements PauseAnswer {
  @ApiProperty()
  machine!: PausedMachineDto;
}

import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import type { CheckAnswer } from '@rollcall/wire';
import { EnrolledMachineDto } from '../enrol/enrol.dto.js';

class CheckedMachineDto extends EnrolledMachineDto {
  @ApiProperty({ type: 'integer' })
  generation!: number;
}

class RequestsDto {
  @ApiProperty({
    type: String,
    format: 'date-time',
    nullable: true,
    description: 'The stamp of the request for the tail of the log, until an upload echoes it.',
  })
  logTail!: string | null;

  @ApiProperty({
    type: String,
    format: 'date-time',
    nullable: true,
    description: 'The stamp of a request for a newer credential, until one has succeeded.',
  })
  rotate!: string | null;
}

/** The answer to a check. */
export class CheckAnswerDto implements CheckAnswer {
  @ApiProperty()
  machine!: CheckedMachineDto;

  @ApiProperty({ type: 'integer', description: 'Seconds until the next check.' })
  interval!: number;

  @ApiProperty({ description: 'To be presented by the next check.' })
  chain!: string;

  @ApiPropertyOptional({
    type: [String],
    description: "Pins of the plane's CA key; absent where it has a public certificate.",
  })
  pins?: readonly string[];

  @ApiProperty()
  requests!: RequestsDto;

  @ApiProperty({ format: 'date-time', description: 'Information; nothing is decided by it.' })
  serverTime!: string;
}

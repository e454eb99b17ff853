import { ApiProperty } from '@nestjs/swagger';
import type { RotationRequestAnswer, RotationRequestBody } from '@rollcall/wire';
import { IsUUID } from 'class-validator';

export class RequestRotationDto implements RotationRequestBody {
  @ApiProperty({ format: 'uuid', description: 'Made by the caller and kept over retries.' })
  @IsUUID()
  commandId!: string;
}

class RotatingMachineDto {
  @ApiProperty({ format: 'uuid' })
  id!: string;
}

export class RotationRequestAnswerDto implements RotationRequestAnswer {
  @ApiProperty()
  machine!: RotatingMachineDto;

  @ApiProperty({
    type: String,
    format: 'date-time',
    nullable: true,
    description:
      'The stamp that rides on every answer to a check until a newer credential has succeeded; null: one has.',
  })
  rotation!: string | null;
}

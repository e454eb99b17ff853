import { ApiProperty } from '@nestjs/swagger';
import type { LogTailRequestAnswer, LogTailRequestBody } from '@rollcall/wire';
import { IsUUID } from 'class-validator';

export class RequestLogTailDto implements LogTailRequestBody {
  @ApiProperty({ format: 'uuid', description: 'Made by the caller and kept over retries.' })
  @IsUUID()
  commandId!: string;
}

class AskedMachineDto {
  @ApiProperty({ format: 'uuid' })
  id!: string;
}

export class LogTailRequestAnswerDto implements LogTailRequestAnswer {
  @ApiProperty()
  machine!: AskedMachineDto;

  @ApiProperty({ format: 'date-time', description: 'The stamp that rides on every answer to a check until then.' })
  logTail!: string;
}

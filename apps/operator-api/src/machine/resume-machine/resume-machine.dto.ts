import { ApiProperty } from '@nestjs/swagger';
import type { ResumeRequest } from '@rollcall/wire';
import { IsUUID } from 'class-validator';

export class ResumeMachineDto implements ResumeRequest {
  @ApiProperty({ format: 'uuid', description: 'Made by the caller and kept over retries.' })
  @IsUUID()
  commandId!: string;
}

import { ApiProperty } from '@nestjs/swagger';
import type { RemovePersonRequest } from '@rollcall/wire';
import { IsUUID } from 'class-validator';

export class RemovePersonDto implements RemovePersonRequest {
  @ApiProperty({ format: 'uuid', description: 'Made by the caller and kept over retries.' })
  @IsUUID()
  commandId!: string;
}

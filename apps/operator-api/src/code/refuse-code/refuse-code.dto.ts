import { ApiProperty } from '@nestjs/swagger';
import type { RefuseCodeRequest } from '@rollcall/wire';
import { IsString, IsUUID, MaxLength } from 'class-validator';

export class RefuseCodeDto implements RefuseCodeRequest {
  @ApiProperty({ format: 'uuid', description: 'Made by the caller and kept over retries.' })
  @IsUUID()
  commandId!: string;

  @ApiProperty({ description: 'As the installation shows it; in any case, with or without the dash.', maxLength: 32 })
  @IsString()
  @MaxLength(32)
  code!: string;
}

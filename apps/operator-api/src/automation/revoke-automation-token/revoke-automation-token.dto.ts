import { ApiProperty } from '@nestjs/swagger';
import type { RevokeAutomationTokenRequest } from '@rollcall/wire';
import { IsUUID } from 'class-validator';

export class RevokeAutomationTokenDto implements RevokeAutomationTokenRequest {
  @ApiProperty({ format: 'uuid', description: 'Made by the caller and kept over retries.' })
  @IsUUID()
  commandId!: string;
}

import { ApiProperty } from '@nestjs/swagger';
import type { WithdrawTokenRequest } from '@rollcall/wire';
import { IsUUID } from 'class-validator';

export class WithdrawTokenDto implements WithdrawTokenRequest {
  @ApiProperty({ format: 'uuid', description: 'Made by the caller and kept over retries.' })
  @IsUUID()
  commandId!: string;
}

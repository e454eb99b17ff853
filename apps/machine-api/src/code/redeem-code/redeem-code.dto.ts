import { ApiProperty } from '@nestjs/swagger';
import type { RedeemCodeRequest } from '@rollcall/wire';
import { IsString } from 'class-validator';

export class RedeemCodeDto implements RedeemCodeRequest {
  @ApiProperty({ description: 'The device code, `rcd_…`.' })
  @IsString()
  deviceCode!: string;
}

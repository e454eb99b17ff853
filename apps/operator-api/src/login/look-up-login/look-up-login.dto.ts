import { ApiProperty } from '@nestjs/swagger';
import type { WaitingLogin } from '@rollcall/wire';

class DeviceClaimsDto {
  @ApiProperty({ type: String, nullable: true })
  client!: string | null;

  @ApiProperty({ type: String, nullable: true })
  device!: string | null;

  @ApiProperty({ type: String, nullable: true })
  platform!: string | null;
}

export class WaitingLoginDto implements WaitingLogin {
  @ApiProperty()
  code!: string;

  @ApiProperty({ format: 'date-time' })
  expiresAt!: string;

  @ApiProperty({ description: 'What the program says of itself: display, and no proof of anything.' })
  claims!: DeviceClaimsDto;
}

import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import type { DeviceAuthorizationAnswer, DeviceAuthorizationRequest } from '@rollcall/wire';
import { Allow, IsString, MaxLength, MinLength } from 'class-validator';

/** Nothing in it is a right to anything. */
export class DeviceAuthorizationDto implements DeviceAuthorizationRequest {
  @ApiProperty({ description: 'Which program it claims to be.', minLength: 1, maxLength: 200 })
  @IsString()
  @MinLength(1)
  @MaxLength(200)
  client_id!: string;

  @ApiPropertyOptional({ description: 'What the computer calls itself. Shown as its own claim.' })
  @Allow()
  device_name?: string;

  @ApiPropertyOptional({ description: 'What it runs on. Shown as its own claim.' })
  @Allow()
  device_platform?: string;
}

export class DeviceAuthorizationAnswerDto implements DeviceAuthorizationAnswer {
  @ApiProperty({ description: '`rcd_…`; stays with the program.' })
  device_code!: string;

  @ApiProperty({ description: 'For a person to type by hand, such as `WDJB-MJHT`.' })
  user_code!: string;

  @ApiProperty({ format: 'uri', description: 'Where a person types it.' })
  verification_uri!: string;

  @ApiProperty({ type: 'integer', description: 'Seconds until both are over.' })
  expires_in!: number;

  @ApiProperty({ type: 'integer', description: 'Seconds between two questions; 5 more after each `slow_down`.' })
  interval!: number;
}

import { ApiProperty } from '@nestjs/swagger';
import { SCOPES, type Scope } from '@rollcall/authorisation';
import type { AutomationTokenView } from '@rollcall/wire';

export class AutomationTokenDto implements AutomationTokenView {
  @ApiProperty({ format: 'uuid' })
  id!: string;

  @ApiProperty()
  name!: string;

  @ApiProperty({ enum: SCOPES, isArray: true })
  scopes!: readonly Scope[];

  @ApiProperty({ format: 'date-time' })
  issuedAt!: string;

  @ApiProperty({ format: 'date-time' })
  expiresAt!: string;
}

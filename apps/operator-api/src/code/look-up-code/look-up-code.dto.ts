import { ApiProperty } from '@nestjs/swagger';
import type { LookUpCodeRequest, WaitingCode } from '@rollcall/wire';
import { IsString, MaxLength } from 'class-validator';

export class LookUpCodeDto implements LookUpCodeRequest {
  @ApiProperty({ description: 'As the installation shows it; in any case, with or without the dash.', maxLength: 32 })
  @IsString()
  @MaxLength(32)
  code!: string;
}

class ClaimsDto {
  @ApiProperty({ type: String, nullable: true })
  hostname!: string | null;

  @ApiProperty({ type: String, nullable: true })
  agentVersion!: string | null;

  @ApiProperty({ type: String, nullable: true })
  platform!: string | null;

  @ApiProperty({ type: String, nullable: true })
  arch!: string | null;
}

export class WaitingCodeDto implements WaitingCode {
  @ApiProperty()
  code!: string;

  @ApiProperty({ format: 'date-time' })
  expiresAt!: string;

  @ApiProperty({ description: 'What the installation says of itself: display, and no proof of anything.' })
  claims!: ClaimsDto;
}

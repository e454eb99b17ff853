import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import type { ApproveCodeRequest } from '@rollcall/wire';
import { IsOptional, IsString, IsUUID, MaxLength } from 'class-validator';
import { IsDisplayName, NAME_LENGTH } from '../../access/display-name.js';

export class ApproveCodeDto implements ApproveCodeRequest {
  @ApiProperty({ format: 'uuid', description: 'Made by the caller and kept over retries.' })
  @IsUUID()
  commandId!: string;

  @ApiProperty({ description: 'As the installation shows it; in any case, with or without the dash.', maxLength: 32 })
  @IsString()
  @MaxLength(32)
  code!: string;

  @ApiPropertyOptional({ type: String, nullable: true, minLength: 1, maxLength: NAME_LENGTH })
  @IsOptional()
  @IsDisplayName()
  name?: string | null;

  @ApiPropertyOptional({
    type: String,
    nullable: true,
    maxLength: 256,
    description:
      'A machine of the node that gets its next one, as for an enrolment token. Without it: a node not seen before.',
  })
  @IsOptional()
  @IsString()
  @MaxLength(256)
  node?: string | null;
}

import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { TOKEN_LIFE_SECONDS } from '@rollcall/admission';
import type { IssueTokenAnswer, IssueTokenRequest } from '@rollcall/wire';
import { IsInt, IsOptional, IsString, IsUUID, Matches, Max, MaxLength, Min } from 'class-validator';
import { IsDisplayName, NAME_LENGTH } from '../../access/display-name.js';

const { least, greatest } = TOKEN_LIFE_SECONDS;

export class IssueTokenDto implements IssueTokenRequest {
  @ApiProperty({ format: 'uuid', description: 'Made by the caller and kept over retries.' })
  @IsUUID()
  commandId!: string;

  @ApiProperty({ description: 'SHA-256 of the secret that the caller made, in hex.', pattern: '^[0-9a-f]{64}$' })
  @Matches(/^[0-9a-f]{64}$/, { message: '$property must be 64 lower-case hex digits' })
  tokenHash!: string;

  @ApiPropertyOptional({ type: String, nullable: true, minLength: 1, maxLength: NAME_LENGTH })
  @IsOptional()
  @IsDisplayName()
  name?: string | null;

  @ApiPropertyOptional({
    type: String,
    nullable: true,
    maxLength: 256,
    description:
      'A machine of the node that gets its next one: its id, the first 8 or more characters of it, or its exact name. ' +
      'The machine of the node that lives is deleted in the same append. Without it: a node not seen before.',
  })
  @IsOptional()
  @IsString()
  @MaxLength(256)
  node?: string | null;

  @ApiPropertyOptional({ description: 'Seconds.', type: 'integer', minimum: least, maximum: greatest, default: 900 })
  @IsOptional()
  @IsInt()
  @Min(least)
  @Max(greatest)
  expiresIn?: number;
}

export class IssuedTokenDto {
  @ApiProperty({ format: 'uuid' })
  id!: string;

  @ApiProperty({ format: 'date-time' })
  expiresAt!: string;

  @ApiProperty({ type: String, nullable: true })
  name!: string | null;
}

export class IssueTokenAnswerDto implements IssueTokenAnswer {
  @ApiProperty()
  token!: IssuedTokenDto;

  @ApiProperty({
    type: String,
    nullable: true,
    format: 'uuid',
    description: 'The newest machine of the node, deleted by now; null for a node not seen before.',
  })
  replaces!: string | null;

  @ApiProperty({ description: 'Where machines reach the plane: an https origin.' })
  machineApi!: string;

  @ApiProperty({ type: [String], description: 'What machines should expect there: `sha256/<base64>`, or nothing.' })
  pins!: readonly string[];
}

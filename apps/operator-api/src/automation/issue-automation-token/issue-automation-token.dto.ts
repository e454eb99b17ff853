import { ApiProperty } from '@nestjs/swagger';
import { SCOPES, type Scope } from '@rollcall/authorisation';
import { AUTOMATION_LIFE_SECONDS } from '@rollcall/person';
import type { AutomationTokenAnswer, IssueAutomationTokenRequest } from '@rollcall/wire';
import { ArrayMaxSize, ArrayMinSize, IsArray, IsIn, IsInt, IsUUID, Matches, Max, Min } from 'class-validator';
import { IsDisplayName, NAME_LENGTH } from '../../access/display-name.js';
import { AutomationTokenDto } from '../automation-token.dto.js';

const { least, greatest } = AUTOMATION_LIFE_SECONDS;

export class IssueAutomationTokenDto implements IssueAutomationTokenRequest {
  @ApiProperty({ format: 'uuid', description: 'Made by the caller and kept over retries; the id of the token.' })
  @IsUUID()
  commandId!: string;

  @ApiProperty({ description: 'SHA-256 of the secret that the caller made, in hex.', pattern: '^[0-9a-f]{64}$' })
  @Matches(/^[0-9a-f]{64}$/, { message: '$property must be 64 lower-case hex digits' })
  tokenHash!: string;

  @ApiProperty({ description: 'What the program is called.', minLength: 1, maxLength: NAME_LENGTH })
  @IsDisplayName()
  name!: string;

  @ApiProperty({ enum: SCOPES, isArray: true, minItems: 1, description: 'What it may do.' })
  @IsArray()
  @ArrayMinSize(1)
  @ArrayMaxSize(SCOPES.length)
  @IsIn(SCOPES, { each: true })
  scopes!: Scope[];

  @ApiProperty({ description: 'Seconds.', type: 'integer', minimum: least, maximum: greatest })
  @IsInt()
  @Min(least)
  @Max(greatest)
  expiresIn!: number;
}

export class AutomationTokenAnswerDto implements AutomationTokenAnswer {
  @ApiProperty()
  token!: AutomationTokenDto;
}

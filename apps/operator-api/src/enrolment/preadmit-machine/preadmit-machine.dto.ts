import { ApiProperty, OmitType } from '@nestjs/swagger';
import type { PreadmitAnswer, PreadmitRequest } from '@rollcall/wire';
import { Matches } from 'class-validator';
import { IssueTokenAnswerDto, IssueTokenDto, IssuedTokenDto } from '../issue-token/issue-token.dto.js';

export class PreadmitDto extends OmitType(IssueTokenDto, ['tokenHash'] as const) implements PreadmitRequest {
  @ApiProperty({ description: 'SHA-256 of the credential that the caller made, in hex.', pattern: '^[0-9a-f]{64}$' })
  @Matches(/^[0-9a-f]{64}$/, { message: '$property must be 64 lower-case hex digits' })
  credentialHash!: string;
}

export class PreadmitAnswerDto extends OmitType(IssueTokenAnswerDto, ['token'] as const) implements PreadmitAnswer {
  @ApiProperty()
  preadmission!: IssuedTokenDto;
}

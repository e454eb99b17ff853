import { ApiProperty } from '@nestjs/swagger';
import type { IssueSignInLinkRequest, PersonAnswer, PersonView } from '@rollcall/wire';
import { IsUUID, Matches } from 'class-validator';

/** Seconds that a link to sign in with lives. */
export const LINK_LIFE = 3_600;

export class PersonLinkDto implements IssueSignInLinkRequest {
  @ApiProperty({ format: 'uuid', description: 'Made by the caller and kept over retries.' })
  @IsUUID()
  commandId!: string;

  @ApiProperty({
    description: 'SHA-256 of the secret of a sign-in link that the caller made, in hex.',
    pattern: '^[0-9a-f]{64}$',
  })
  @Matches(/^[0-9a-f]{64}$/, { message: '$property must be 64 lower-case hex digits' })
  linkHash!: string;
}

export class PersonViewDto implements PersonView {
  @ApiProperty({ format: 'uuid' })
  id!: string;

  @ApiProperty()
  name!: string;
}

export class PersonAnswerDto implements PersonAnswer {
  @ApiProperty()
  person!: PersonViewDto;
}

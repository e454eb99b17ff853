import { ApiProperty } from '@nestjs/swagger';
import { DEVICE_CODE_GRANT, type TokenAnswer, type TokenRequest } from '@rollcall/wire';
import { Equals, IsString, MaxLength } from 'class-validator';
import { PersonDto } from '../../session/person.dto.js';

export class TokenDto implements TokenRequest {
  @ApiProperty({ enum: [DEVICE_CODE_GRANT] })
  @Equals(DEVICE_CODE_GRANT)
  grant_type!: string;

  @ApiProperty({ description: 'The device code, `rcd_…`.' })
  @IsString()
  @MaxLength(200)
  device_code!: string;

  @ApiProperty({ maxLength: 200 })
  @IsString()
  @MaxLength(200)
  client_id!: string;
}

export class TokenAnswerDto implements TokenAnswer {
  @ApiProperty({ description: 'The session, `rco_…`. Answered once; the plane keeps its hash.' })
  access_token!: string;

  @ApiProperty({ enum: ['Bearer'] })
  token_type!: 'Bearer';

  @ApiProperty({ type: 'integer', description: 'Seconds until it ends.' })
  expires_in!: number;

  @ApiProperty({ format: 'date-time' })
  expires_at!: string;

  @ApiProperty()
  person!: PersonDto;
}

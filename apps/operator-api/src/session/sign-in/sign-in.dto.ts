import { ApiProperty } from '@nestjs/swagger';
import type { SignInAnswer, SignInRequest } from '@rollcall/wire';
import { IsString, Length } from 'class-validator';
import { PersonDto } from '../person.dto.js';

export class SignInDto implements SignInRequest {
  @ApiProperty({ description: 'The secret of a one-time sign-in link, `rcl_…`.', maxLength: 200 })
  @IsString()
  @Length(1, 200)
  link!: string;
}

export class SignInAnswerDto implements SignInAnswer {
  @ApiProperty({ description: 'The session, `rco_…`. Answered once; the plane keeps its hash.' })
  session!: string;

  @ApiProperty({ format: 'date-time' })
  expiresAt!: string;

  @ApiProperty()
  person!: PersonDto;
}

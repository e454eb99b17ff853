import { ApiProperty } from '@nestjs/swagger';
import type { MeAnswer } from '@rollcall/wire';
import { PersonDto } from '../person.dto.js';

export class MeDto implements MeAnswer {
  @ApiProperty()
  person!: PersonDto;

  @ApiProperty({ format: 'date-time', description: 'When the session ends.' })
  expiresAt!: string;
}

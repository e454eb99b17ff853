import { ApiProperty } from '@nestjs/swagger';
import type { PersonList } from '@rollcall/wire';
import { PersonViewDto } from '../person-link.dto.js';

export class PersonListDto implements PersonList {
  @ApiProperty({ type: [PersonViewDto], description: 'The caller, then those whom the caller has added.' })
  people!: readonly PersonViewDto[];
}

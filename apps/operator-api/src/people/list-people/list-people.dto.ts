import { ApiProperty } from '@nestjs/swagger';
import type { PersonList } from '@rollcall/wire';
import { PersonViewDto } from '../person-link.dto.js';

class ListedPersonDto extends PersonViewDto {
  @ApiProperty({ description: 'Whether they have no access any more.' })
  removed!: boolean;
}

export class PersonListDto implements PersonList {
  @ApiProperty({
    type: [ListedPersonDto],
    description: 'The caller, then those whom the caller has added, then those removed.',
  })
  people!: readonly ListedPersonDto[];
}

import { ApiProperty } from '@nestjs/swagger';
import type { AddPersonRequest } from '@rollcall/wire';
import { IsDisplayName, NAME_LENGTH } from '../../access/display-name.js';
import { PersonLinkDto } from '../person-link.dto.js';

export class AddPersonDto extends PersonLinkDto implements AddPersonRequest {
  @ApiProperty({ minLength: 1, maxLength: NAME_LENGTH })
  @IsDisplayName()
  name!: string;
}

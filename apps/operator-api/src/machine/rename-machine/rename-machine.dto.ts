import { ApiProperty } from '@nestjs/swagger';
import type { RenameAnswer, RenameRequest } from '@rollcall/wire';
import { IsUUID } from 'class-validator';
import { IsDisplayName, NAME_LENGTH } from '../../access/display-name.js';

export class RenameMachineDto implements RenameRequest {
  @ApiProperty({ format: 'uuid', description: 'Made by the caller and kept over retries.' })
  @IsUUID()
  commandId!: string;

  @ApiProperty({ minLength: 1, maxLength: NAME_LENGTH })
  @IsDisplayName()
  name!: string;
}

class NamedMachineDto {
  @ApiProperty({ format: 'uuid' })
  id!: string;

  @ApiProperty()
  name!: string;
}

export class RenameAnswerDto implements RenameAnswer {
  @ApiProperty()
  machine!: NamedMachineDto;
}

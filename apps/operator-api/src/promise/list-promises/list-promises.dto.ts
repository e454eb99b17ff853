import { ApiProperty } from '@nestjs/swagger';
import type { PromiseList } from '@rollcall/wire';

class PromisedMachineDto {
  @ApiProperty({ format: 'uuid' })
  id!: string;

  @ApiProperty({ type: String, nullable: true })
  name!: string | null;
}

class ListedPromiseDto {
  @ApiProperty({ description: '`node:<id>` or `label:<key>=<value>`' })
  selector!: string;

  @ApiProperty({ example: 'weekdays 09:00-18:00 Europe/Berlin' })
  schedule!: string;

  @ApiProperty({ type: PromisedMachineDto, nullable: true, description: 'The machine of the node that lives.' })
  machine!: PromisedMachineDto | null;

  @ApiProperty({ description: 'Whether it is promised time now, by the clock of the record.' })
  promisedNow!: boolean;
}

export class PromiseListDto implements PromiseList {
  @ApiProperty({ type: [ListedPromiseDto], description: 'By selector.' })
  promises!: readonly ListedPromiseDto[];
}

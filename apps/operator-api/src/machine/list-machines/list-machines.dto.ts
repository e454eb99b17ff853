import { ApiProperty } from '@nestjs/swagger';
import type { MachineList } from '@rollcall/wire';
import { AsOfDto, MachineDto } from '../machine.dto.js';

export class MachineListDto extends AsOfDto implements MachineList {
  @ApiProperty({ type: [MachineDto] })
  machines!: readonly MachineDto[];

  @ApiProperty({ type: String, nullable: true, description: 'For `after`; null on the last page.' })
  next!: string | null;
}

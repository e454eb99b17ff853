import { ApiProperty } from '@nestjs/swagger';
import type { MachineDetail } from '@rollcall/wire';
import { AsOfDto, MachineDto } from '../machine.dto.js';

export class MachineDetailDto extends AsOfDto implements MachineDetail {
  @ApiProperty()
  machine!: MachineDto;
}

import { ApiProperty } from '@nestjs/swagger';
import type { LogTailView } from '@rollcall/wire';

class TailedMachineDto {
  @ApiProperty({ format: 'uuid' })
  id!: string;

  @ApiProperty({ type: String, nullable: true })
  name!: string | null;
}

class TailDto {
  @ApiProperty({ format: 'date-time', description: 'Of the request that it answers.' })
  stamp!: string;

  @ApiProperty({ format: 'date-time' })
  receivedAt!: string;

  @ApiProperty({ description: 'The lines as the machine sent them. Nothing in them is to be trusted.' })
  log!: string;
}

export class LogTailViewDto implements LogTailView {
  @ApiProperty()
  machine!: TailedMachineDto;

  @ApiProperty({ type: String, format: 'date-time', nullable: true, description: 'The request that waits.' })
  requested!: string | null;

  @ApiProperty({ type: TailDto, nullable: true })
  tail!: TailDto | null;
}

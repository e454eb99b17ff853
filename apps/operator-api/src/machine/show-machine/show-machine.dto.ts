import { ApiProperty } from '@nestjs/swagger';
import type { MachineDetail, PromisedPresence } from '@rollcall/wire';
import { AsOfDto, MachineDto } from '../machine.dto.js';

class CountingPromiseDto {
  @ApiProperty({ description: '`node:<id>` or `label:<key>=<value>`' })
  selector!: string;

  @ApiProperty({ example: 'weekdays 09:00-18:00 Europe/Berlin' })
  schedule!: string;
}

class PromisedPresenceDto implements PromisedPresence {
  @ApiProperty({ type: [CountingPromiseDto], description: 'Its own promise, or those of its labels.' })
  promises!: readonly CountingPromiseDto[];

  @ApiProperty({ enum: ['held', 'broken', 'not-now'], description: 'As of the answer.' })
  state!: PromisedPresence['state'];

  @ApiProperty({ type: String, format: 'date-time', nullable: true, description: 'When promised time begins next.' })
  next!: string | null;
}

export class MachineDetailDto extends AsOfDto implements MachineDetail {
  @ApiProperty()
  machine!: MachineDto;

  @ApiProperty({ type: PromisedPresenceDto, nullable: true, description: 'null: nobody promised anything.' })
  promise!: PromisedPresenceDto | null;
}

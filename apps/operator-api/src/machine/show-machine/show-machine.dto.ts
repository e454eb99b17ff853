import { ApiProperty } from '@nestjs/swagger';
import type { MachineDetail, OlderUseView, PromisedPresence } from '@rollcall/wire';
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

class OlderUseDto implements OlderUseView {
  @ApiProperty({ type: 'integer', nullable: true, description: 'null: older than the plane remembers by number.' })
  generation!: number | null;

  @ApiProperty({ format: 'date-time', description: 'Of many within an hour the first.' })
  at!: string;
}

export class MachineDetailDto extends AsOfDto implements MachineDetail {
  @ApiProperty()
  machine!: MachineDto;

  @ApiProperty({
    type: OlderUseDto,
    nullable: true,
    description:
      'The newest refused use of an older credential since the one that counts was registered; null: none. If whoever holds it is the right installation, another one has rotated in its place.',
  })
  olderUse!: OlderUseDto | null;

  @ApiProperty({ type: PromisedPresenceDto, nullable: true, description: 'null: nobody promised anything.' })
  promise!: PromisedPresenceDto | null;
}

import { ApiProperty } from '@nestjs/swagger';
import type { ReadModelList, ReadModelStatus } from '@rollcall/wire';

class ReadModelDto implements ReadModelStatus {
  @ApiProperty()
  name!: string;

  @ApiProperty({ description: 'The newest batch that it has applied.' })
  checkpoint!: string;

  @ApiProperty({ description: 'The newest batch of the record.' })
  newest!: string;

  @ApiProperty()
  lagBatches!: string;

  @ApiProperty({ type: String, format: 'date-time', nullable: true })
  heardUntil!: string | null;

  @ApiProperty({ description: 'False: it was built from another record, and will be rebuilt.' })
  epochMatches!: boolean;

  @ApiProperty({ type: 'integer', description: 'Facts that it could not read.' })
  parked!: number;

  @ApiProperty()
  rebuilding!: boolean;
}

export class ReadModelListDto implements ReadModelList {
  @ApiProperty({ type: [ReadModelDto] })
  readModels!: readonly ReadModelDto[];
}

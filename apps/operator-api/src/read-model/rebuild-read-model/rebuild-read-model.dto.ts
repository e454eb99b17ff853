import { ApiProperty } from '@nestjs/swagger';
import type { RebuildAnswer } from '@rollcall/wire';

export class RebuildAnswerDto implements RebuildAnswer {
  @ApiProperty()
  name!: string;

  @ApiProperty({ enum: [true] })
  rebuilding!: true;
}

import { ApiProperty } from '@nestjs/swagger';
import type { AnsweredCode } from '@rollcall/wire';

export class AnsweredCodeDto implements AnsweredCode {
  @ApiProperty()
  code!: string;

  @ApiProperty({ enum: ['approved', 'refused'] })
  answer!: 'approved' | 'refused';

  @ApiProperty({
    type: String,
    nullable: true,
    format: 'uuid',
    description: 'The newest machine of the node, deleted by now; null for a node not seen before, and for a refusal.',
  })
  replaces!: string | null;
}

import { ApiProperty } from '@nestjs/swagger';
import type { AnsweredCode } from '@rollcall/wire';

export class AnsweredCodeDto implements AnsweredCode {
  @ApiProperty()
  code!: string;

  @ApiProperty({ enum: ['approved', 'refused'] })
  answer!: 'approved' | 'refused';
}

import { ApiProperty, OmitType } from '@nestjs/swagger';
import type { CodeAnswer } from '@rollcall/wire';
import { EnrolmentDto } from '../../machine/enrol/enrol.dto.js';

/** Who wants to join. Nothing in it is a right to anything (O5). */
export class CodeRequestDto extends OmitType(EnrolmentDto, ['token'] as const) {}

export class CodeAnswerDto implements CodeAnswer {
  @ApiProperty({ description: 'For a person to type by hand, such as `WDJB-MJHT`.' })
  userCode!: string;

  @ApiProperty({ description: '`rcd_…`; stays with the installation.' })
  deviceCode!: string;

  @ApiProperty({ type: String, nullable: true, description: 'Where a person types it: an https address.' })
  verificationAddress!: string | null;

  @ApiProperty({ type: 'integer', description: 'Seconds until both are over.' })
  expiresIn!: number;

  @ApiProperty({ type: 'integer', description: 'Seconds between two questions.' })
  interval!: number;
}

import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import type { PromiseAnswer, WithdrawRequest } from '@rollcall/wire';
import { IsOptional, IsString, IsUUID, Length } from 'class-validator';
import { NAME_LENGTH } from '../access/display-name.js';
import { IsLabel } from '../access/labels.js';

/** What a promise is about. */
export class PromiseSubjectDto implements WithdrawRequest {
  @ApiProperty({ format: 'uuid', description: 'Made by the caller and kept over retries.' })
  @IsUUID()
  commandId!: string;

  @ApiPropertyOptional({ description: 'A machine, as in the addresses of machines: its node is meant.' })
  @IsOptional()
  @IsString()
  // No name is longer, in the characters that this counts.
  @Length(1, 2 * NAME_LENGTH)
  machine?: string;

  @ApiPropertyOptional({ description: 'Every node with this label.', example: 'site=berlin' })
  @IsOptional()
  @IsLabel()
  label?: string;
}

class DecidedPromiseDto {
  @ApiProperty({ description: '`node:<id>` or `label:<key>=<value>`' })
  selector!: string;

  @ApiProperty({ type: String, nullable: true, description: 'null: nothing is promised for it.' })
  schedule!: string | null;
}

export class PromiseAnswerDto implements PromiseAnswer {
  @ApiProperty()
  promise!: DecidedPromiseDto;
}

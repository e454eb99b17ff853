import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { LABEL_KEY, LABEL_VALUE_LENGTH, MOST_LABELS } from '@rollcall/machine';
import type { LabelAnswer, LabelRequest } from '@rollcall/wire';
import { ArrayMaxSize, IsArray, IsOptional, IsUUID } from 'class-validator';
import { IsLabelKey, IsLabels } from '../../access/labels.js';

export class LabelMachineDto implements LabelRequest {
  @ApiProperty({ format: 'uuid', description: 'Made by the caller and kept over retries.' })
  @IsUUID()
  commandId!: string;

  @ApiPropertyOptional({
    type: 'object',
    additionalProperties: { type: 'string', minLength: 1, maxLength: LABEL_VALUE_LENGTH },
    description: `By key, which matches ${LABEL_KEY.source}; the labels that are not named stay.`,
  })
  @IsOptional()
  @IsLabels()
  set?: { readonly [key: string]: string };

  @ApiPropertyOptional({ type: [String], maxItems: MOST_LABELS, description: 'Keys; one that is also set is set.' })
  @IsOptional()
  @IsArray()
  @ArrayMaxSize(MOST_LABELS)
  @IsLabelKey({ each: true })
  remove?: readonly string[];
}

class LabelledMachineDto {
  @ApiProperty({ format: 'uuid' })
  id!: string;

  @ApiProperty({ type: 'object', additionalProperties: { type: 'string' }, description: 'All of them.' })
  labels!: { readonly [key: string]: string };
}

export class LabelAnswerDto implements LabelAnswer {
  @ApiProperty()
  machine!: LabelledMachineDto;
}

import { ApiProperty } from '@nestjs/swagger';
import { NotASchedule, parseSchedule, SCHEDULE_LENGTH } from '@rollcall/promises';
import type { PromiseRequest } from '@rollcall/wire';
import { ValidateBy } from 'class-validator';
import { PromiseSubjectDto } from '../promise.dto.js';

/** What is wrong with a schedule; null: nothing. */
const wrongWith = (value: unknown): string | null => {
  if (typeof value !== 'string') return 'it is no text';
  try {
    parseSchedule(value);
    return null;
  } catch (error) {
    if (error instanceof NotASchedule) return error.message;
    throw error;
  }
};

const IsSchedule = (): PropertyDecorator =>
  ValidateBy({
    name: 'isSchedule',
    validator: {
      validate: (value: unknown) => wrongWith(value) === null,
      defaultMessage: (checked) => `$property cannot be read: ${(wrongWith(checked?.value) ?? '').replaceAll('$', '')}`,
    },
  });

export class MakePromiseDto extends PromiseSubjectDto implements PromiseRequest {
  @ApiProperty({
    maxLength: SCHEDULE_LENGTH,
    description:
      '`always`, `none`, or days (`daily`, `weekdays`, `weekends`, `mon,wed-fri`), a window of the day and a time zone.',
    example: 'weekdays 09:00-18:00 Europe/Berlin',
  })
  @IsSchedule()
  schedule!: string;
}

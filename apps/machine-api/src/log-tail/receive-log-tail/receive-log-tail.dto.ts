import { ApiProperty } from '@nestjs/swagger';
import type { LogTailReceipt } from '@rollcall/wire';

/** The answer to an upload. */
export class LogTailReceiptDto implements LogTailReceipt {
  @ApiProperty({
    format: 'date-time',
    description: 'The stamp that was echoed; no answer to a check carries it any more.',
  })
  logTail!: string;
}

import { Command } from '@nestjs/cqrs';
import type { LogTailRequestAnswer } from '@rollcall/wire';

/** A person asks a machine for the tail of its log. */
export class RequestOwnedLogTail extends Command<LogTailRequestAnswer> {
  constructor(
    readonly personId: string,
    readonly commandId: string,
    /** As the person calls it. */
    readonly machine: string,
  ) {
    super();
  }
}

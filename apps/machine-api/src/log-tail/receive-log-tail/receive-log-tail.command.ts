import { Command } from '@nestjs/cqrs';
import type { LogTailReceipt } from '@rollcall/wire';

/** A machine uploads the tail of its log, for the request with this stamp. */
export class ReceiveMachineLogTail extends Command<LogTailReceipt> {
  constructor(
    /** SHA-256 of the credential, hex. */
    readonly keyHash: string,
    readonly stamp: string,
    readonly bytes: Buffer,
  ) {
    super();
  }
}

import { Command } from '@nestjs/cqrs';
import type { RotationRequestAnswer } from '@rollcall/wire';

/** A person wants a machine to take a new credential. */
export class RequestOwnedRotation extends Command<RotationRequestAnswer> {
  constructor(
    readonly personId: string,
    readonly commandId: string,
    /** As the person calls it. */
    readonly machine: string,
  ) {
    super();
  }
}

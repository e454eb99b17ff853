import { Command } from '@nestjs/cqrs';
import type { RotationAnswer } from '@rollcall/wire';

/** A machine registers the next credential, which it made. */
export class StartMachineRotation extends Command<RotationAnswer> {
  constructor(
    /** SHA-256 of the credential that was presented, hex. */
    readonly keyHash: string,
    /** SHA-256 of the next one, hex. */
    readonly nextKeyHash: string,
  ) {
    super();
  }
}

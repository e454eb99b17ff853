import { Command } from '@nestjs/cqrs';
import type { AcceptCheck } from '@rollcall/machine';
import type { CheckAnswer } from '@rollcall/wire';

/** What a check said, cleaned and in the words of the machine's rules; the chain token as it was presented. */
export type SaidCheck = Omit<AcceptCheck, 'type' | 'keyHash' | 'chain' | 'policy'> & {
  readonly chainToken: string | null;
};

/** A machine checks in with its credential. */
export class AcceptMachineCheck extends Command<CheckAnswer> {
  constructor(
    /** SHA-256 of the credential, hex. */
    readonly keyHash: string,
    readonly check: SaidCheck,
  ) {
    super();
  }
}

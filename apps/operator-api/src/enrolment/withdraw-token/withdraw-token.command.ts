import { Command } from '@nestjs/cqrs';

/** A person takes back what admits a machine. */
export class WithdrawEnrolmentToken extends Command<void> {
  constructor(
    readonly personId: string,
    readonly commandId: string,
    readonly tokenId: string,
  ) {
    super();
  }
}

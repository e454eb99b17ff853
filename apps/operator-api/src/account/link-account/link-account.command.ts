import { Command } from '@nestjs/cqrs';

/** A person showed an account at the provider that is to be theirs. */
export class LinkShownAccount extends Command<void> {
  constructor(
    readonly personId: string,
    /** SHA-256 of issuer and subject, hex. */
    readonly accountHash: string,
    /** The host of the provider. */
    readonly provider: string,
  ) {
    super();
  }
}

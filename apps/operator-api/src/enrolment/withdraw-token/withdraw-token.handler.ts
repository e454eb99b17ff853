import { CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { token, tokenStream } from '@rollcall/admission';
import { Refusal } from '@rollcall/decider';
import { ClaimTaken, EventStore } from '@rollcall/event-store';
import { WithdrawEnrolmentToken } from './withdraw-token.command.js';

/** Withdraws a token of the caller; somebody else's does not exist. Of this and a redemption the first one is recorded. */
@CommandHandler(WithdrawEnrolmentToken)
export class WithdrawTokenHandler implements ICommandHandler<WithdrawEnrolmentToken> {
  constructor(private readonly store: EventStore) {}

  async execute({ personId, commandId, tokenId }: WithdrawEnrolmentToken): Promise<void> {
    const stream = tokenStream(tokenId);
    // Whose it is never changes.
    if ((await this.store.view(token, { stream }))?.state?.owner !== personId) throw new Refusal('token-not-found');
    try {
      await this.store.decide(
        token,
        { stream },
        { type: 'WithdrawToken', token: tokenId },
        { actor: { kind: 'person', id: personId }, commandId },
      );
    } catch (error) {
      throw error instanceof ClaimTaken ? new Refusal('already-admitted') : error;
    }
  }
}

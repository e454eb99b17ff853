import { CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { EventStore } from '@rollcall/event-store';
import { automation, automationStream } from '@rollcall/person';
import { RevokeAutomationToken } from './revoke-automation-token.command.js';

/** Revokes a token; from its commit on no instance knows it. Somebody else's is not on this stream, so it is not found. */
@CommandHandler(RevokeAutomationToken)
export class RevokeAutomationTokenHandler implements ICommandHandler<RevokeAutomationToken> {
  constructor(private readonly store: EventStore) {}

  async execute({ personId, commandId, tokenId }: RevokeAutomationToken): Promise<void> {
    await this.store.decide(
      automation,
      { stream: automationStream(personId) },
      { type: 'RevokeAutomationToken', tokenId },
      { actor: { kind: 'person', id: personId }, commandId },
    );
  }
}

import { CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { ClaimTaken, EventStore } from '@rollcall/event-store';
import { automation, automationStream } from '@rollcall/person';
import type { AutomationTokenView } from '@rollcall/wire';
import { anotherCommand } from '../../machine/another-command.js';
import { shownToken } from '../shown-token.js';
import { IssueAutomationToken } from './issue-automation-token.command.js';

/** Registers a token on the stream of its owner. A repetition is answered from it. */
@CommandHandler(IssueAutomationToken)
export class IssueAutomationTokenHandler implements ICommandHandler<IssueAutomationToken> {
  constructor(private readonly store: EventStore) {}

  async execute({ personId, commandId, ...wanted }: IssueAutomationToken): Promise<AutomationTokenView> {
    const { tokenHash, name, scopes, expiresIn } = wanted;
    const { state } = await this.store
      .decide(
        automation,
        { stream: automationStream(personId) },
        { type: 'IssueAutomationToken', tokenId: commandId, tokenHash, name, scopes, expiresIn },
        { actor: { kind: 'person', id: personId }, commandId },
      )
      .catch((cause: unknown) => {
        // The same secret under another id: somebody's mistake.
        throw cause instanceof ClaimTaken ? anotherCommand() : cause;
      });
    const token = state.tokens.find(({ tokenId }) => tokenId === commandId);
    if (token?.tokenHash !== tokenHash) throw anotherCommand();
    return shownToken(token);
  }
}

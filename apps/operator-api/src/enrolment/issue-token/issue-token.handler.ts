import { CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { token, tokenStream } from '@rollcall/admission';
import { Refusal } from '@rollcall/decider';
import { ClaimTaken, EventStore } from '@rollcall/event-store';
import type { IssueTokenAnswer } from '@rollcall/wire';
import { MachineApiLocation } from '../machine-api-location.js';
import { IssueEnrolmentToken } from './issue-token.command.js';

/** Registers a token. Its id is the command's: a repetition finds the same stream and is answered from it. */
@CommandHandler(IssueEnrolmentToken)
export class IssueEnrolmentTokenHandler implements ICommandHandler<IssueEnrolmentToken> {
  constructor(
    private readonly store: EventStore,
    private readonly machineApi: MachineApiLocation,
  ) {}

  async execute(command: IssueEnrolmentToken): Promise<IssueTokenAnswer> {
    const { personId, commandId, tokenHash, name, expiresIn } = command;
    const { state } = await this.store
      .decide(
        token,
        { stream: tokenStream(commandId) },
        { type: 'IssueToken', tokenHash, owner: personId, name, expiresIn },
        { actor: { kind: 'person', id: personId }, commandId },
      )
      .catch((cause: unknown) => {
        // The same secret under another command id: somebody's mistake, and a token is nobody's second one.
        throw cause instanceof ClaimTaken ? new Refusal('token-refused') : cause;
      });
    if (!state) throw new Error('a token was issued and is not there');
    // The command id had registered another secret: what this caller holds would admit nobody.
    if (state.tokenHash !== tokenHash || state.owner !== personId) throw new Refusal('token-refused');
    const { address, pins } = this.machineApi;
    return { token: { id: commandId, expiresAt: state.expiresAt, name: state.name }, machineApi: address, pins };
  }
}

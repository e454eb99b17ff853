import { CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { isApproval, login } from '@rollcall/admission';
import { Refusal } from '@rollcall/decider';
import { EventStore } from '@rollcall/event-store';
import type { AnsweredLogin } from '@rollcall/wire';
import { TypedCodes } from '../../access/typed-codes.js';
import { LOGINS } from '../logins.js';
import { ApproveProgram } from './approve-login.command.js';

/** Records that a person lets a program act as them; whether it can still be said is decided at the record's time. */
@CommandHandler(ApproveProgram)
export class ApproveLoginHandler implements ICommandHandler<ApproveProgram> {
  constructor(
    private readonly store: EventStore,
    private readonly codes: TypedCodes,
  ) {}

  async execute({ person, commandId, code: typed }: ApproveProgram): Promise<AnsweredLogin> {
    const { id, sessionId, authenticatedAt } = person;
    if (authenticatedAt === null) throw new Refusal('session-not-fresh');
    return this.codes.withTyped(LOGINS, { typed, sessionId }, async ({ stream, code }) => {
      const { state } = await this.store.decide(
        login,
        { stream },
        { type: 'ApproveLogin', person: id, authenticatedAt },
        { actor: { kind: 'person', id }, commandId },
      );
      // Taken for a repetition, by an id that had said something else.
      const answer = state?.answer ?? null;
      if (answer !== 'picked-up' && !(isApproval(answer) && answer.person === id)) throw new Refusal('code-refused');
      return { code, answer: 'approved' };
    });
  }
}

import { CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { login } from '@rollcall/admission';
import { Refusal } from '@rollcall/decider';
import { EventStore } from '@rollcall/event-store';
import type { AnsweredLogin } from '@rollcall/wire';
import { TypedCodes } from '../../access/typed-codes.js';
import { LOGINS } from '../logins.js';
import { RefuseProgram } from './refuse-login.command.js';

/** Records that a person does not let a program act as them. */
@CommandHandler(RefuseProgram)
export class RefuseLoginHandler implements ICommandHandler<RefuseProgram> {
  constructor(
    private readonly store: EventStore,
    private readonly codes: TypedCodes,
  ) {}

  execute({ person: { id, sessionId }, commandId, code: typed }: RefuseProgram): Promise<AnsweredLogin> {
    return this.codes.withTyped(LOGINS, { typed, sessionId }, async ({ stream, code }) => {
      const actor = { kind: 'person', id } as const;
      const { state } = await this.store.decide(login, { stream }, { type: 'RefuseLogin' }, { actor, commandId });
      // Taken for a repetition, by an id that had said something else.
      if (state?.answer !== 'refused') throw new Refusal('code-refused');
      return { code, answer: 'refused' };
    });
  }
}

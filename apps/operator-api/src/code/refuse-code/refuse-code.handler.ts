import { CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { code } from '@rollcall/admission';
import { Refusal } from '@rollcall/decider';
import { EventStore } from '@rollcall/event-store';
import type { AnsweredCode } from '@rollcall/wire';
import { TypedCodes } from '../../access/typed-codes.js';
import { INSTALLATIONS } from '../installations.js';
import { RefuseShortCode } from './refuse-code.command.js';

/** Records what a person said of a code; whether it can still be said is decided at the record's time. */
@CommandHandler(RefuseShortCode)
export class RefuseShortCodeHandler implements ICommandHandler<RefuseShortCode> {
  constructor(
    private readonly store: EventStore,
    private readonly codes: TypedCodes,
  ) {}

  execute({ person, commandId, code: typed }: RefuseShortCode): Promise<AnsweredCode> {
    return this.codes.withTyped(INSTALLATIONS, { typed, sessionId: person.sessionId }, async (found) => {
      const actor = { kind: 'person', id: person.id } as const;
      const { stream } = found;
      const { state } = await this.store.decide(code, { stream }, { type: 'RefuseCode' }, { actor, commandId });
      // Taken for a repetition, by an id that had said something else.
      if (state?.answer !== 'refused') throw new Refusal('code-refused');
      return { code: found.code, answer: 'refused', replaces: null };
    });
  }
}

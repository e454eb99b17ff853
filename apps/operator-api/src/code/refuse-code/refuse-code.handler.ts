import { CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { code, codeIdOf } from '@rollcall/admission';
import { Refusal } from '@rollcall/decider';
import { ClaimTaken, EventStore } from '@rollcall/event-store';
import type { AnsweredCode } from '@rollcall/wire';
import { TypedCodes } from '../../access/typed-codes.js';
import { INSTALLATIONS } from '../installations.js';
import { RefuseShortCode } from './refuse-code.command.js';

/**
 * Records what a person said of a code; whether it can still be said is decided at the record's time. An approval of theirs is taken back by it, where
 * that was not picked up yet.
 */
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
      const refuse = { type: 'RefuseCode', code: codeIdOf(stream), by: person.id } as const;
      const { state } = await this.store
        .decide(code, { stream }, refuse, { actor, commandId })
        .catch((cause: unknown) => {
          throw cause instanceof ClaimTaken ? new Refusal('already-admitted') : cause;
        });
      // Taken for a repetition, by an id that had said something else.
      if (state?.answer !== 'refused') throw new Refusal('code-refused');
      return { code: found.code, answer: 'refused', replaces: null };
    });
  }
}

import { CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { code } from '@rollcall/admission';
import { EventStore } from '@rollcall/event-store';
import type { AnsweredCode } from '@rollcall/wire';
import { WaitingCodes } from '../waiting-codes.js';
import { ApproveShortCode } from './approve-code.command.js';

/** Records what a person said of a code; whether it can still be said is decided at the record's time. */
@CommandHandler(ApproveShortCode)
export class ApproveShortCodeHandler implements ICommandHandler<ApproveShortCode> {
  constructor(
    private readonly store: EventStore,
    private readonly codes: WaitingCodes,
  ) {}

  execute({ person, commandId, code: typed, name }: ApproveShortCode): Promise<AnsweredCode> {
    return this.codes.withTyped(typed, person.sessionId, async (found) => {
      const actor = { kind: 'person', id: person.id } as const;
      await this.store.decide(
        code,
        { stream: found.stream },
        { type: 'ApproveCode', owner: person.id, name },
        { actor, commandId },
      );
      return { code: found.code, answer: 'approved' };
    });
  }
}

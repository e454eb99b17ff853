import { CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { code, type ApproveCode } from '@rollcall/admission';
import { EventStore, part } from '@rollcall/event-store';
import type { AnsweredCode } from '@rollcall/wire';
import { TypedCodes } from '../../access/typed-codes.js';
import { INSTALLATIONS } from '../installations.js';
import { VacatedNodes } from '../../machine/vacated-nodes.js';
import { ApproveShortCode } from './approve-code.command.js';

/** Records what a person said of a code; whether it can still be said is decided at the record's time, together with what it deletes. */
@CommandHandler(ApproveShortCode)
export class ApproveShortCodeHandler implements ICommandHandler<ApproveShortCode> {
  constructor(
    private readonly store: EventStore,
    private readonly codes: TypedCodes,
    private readonly nodes: VacatedNodes,
  ) {}

  execute({ person, commandId, code: typed, name, node: wanted }: ApproveShortCode): Promise<AnsweredCode> {
    return this.codes.withTyped(
      INSTALLATIONS,
      { typed, sessionId: person.sessionId },
      async ({ code: shown, stream }) => {
        const node = wanted === null ? null : await this.nodes.nodeOf(wanted, person.id);
        const approve: ApproveCode = {
          type: 'ApproveCode',
          owner: person.id,
          name,
          ...(node ? { node: node.id } : {}),
        };
        const options = { actor: { kind: 'person', id: person.id }, commandId } as const;
        if (node) {
          const { replaces } = await this.nodes.vacateWith(node, part(code, stream, approve), options);
          return { code: shown, answer: 'approved', replaces };
        }
        await this.store.decide(code, { stream }, approve, options);
        return { code: shown, answer: 'approved', replaces: null };
      },
    );
  }
}

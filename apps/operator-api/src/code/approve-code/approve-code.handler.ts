import { CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { code, type ApproveCode } from '@rollcall/admission';
import { Refusal } from '@rollcall/decider';
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

  async execute({ person, commandId, code: typed, name, node: wanted }: ApproveShortCode): Promise<AnsweredCode> {
    // Looked for before the code is: what is said of it tells nothing of the code (O12).
    const node = wanted === null ? null : await this.nodes.nodeOf(wanted, person.id);
    return this.codes.withTyped(INSTALLATIONS, { typed, sessionId: person.sessionId }, async (found) => {
      const { stream } = found;
      const approve: ApproveCode = {
        type: 'ApproveCode',
        owner: person.id,
        name,
        session: person.sessionId,
        ...(node ? { node: node.id } : {}),
      };
      const options = { actor: { kind: 'person', id: person.id }, commandId } as const;
      const { admission, replaces } = node
        ? await this.nodes.vacateWith(node, part(code, stream, approve), options)
        : { admission: await this.store.decide(code, { stream }, approve, options), replaces: null };
      const answer = admission.state?.answer ?? null;
      // Taken for a repetition, by an id that had said something else.
      if (answer === null || answer === 'refused' || answer.approvedBy !== person.id) throw new Refusal('code-refused');
      return { code: found.code, answer: 'approved', replaces };
    });
  }
}

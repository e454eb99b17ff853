import { CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { token, tokenStream, type IssueToken, type TokenState } from '@rollcall/admission';
import { Refusal } from '@rollcall/decider';
import { ClaimTaken, EventStore, part } from '@rollcall/event-store';
import type { IssueTokenAnswer } from '@rollcall/wire';
import { VacatedNodes, type KnownNode } from '../../machine/vacated-nodes.js';
import { MachineApiLocation } from '../machine-api-location.js';
import { IssueEnrolmentToken } from './issue-token.command.js';

type Issued = { readonly state: TokenState; readonly replaces: string | null };

/**
 * Registers a token, or a credential in its place. Its id is the command's: a repetition finds the same stream and is answered from it. With a node, the node's machine that
 * lives is deleted in the same append, and its older tokens are void: one that is not issued does neither (N19).
 */
@CommandHandler(IssueEnrolmentToken)
export class IssueEnrolmentTokenHandler implements ICommandHandler<IssueEnrolmentToken> {
  constructor(
    private readonly store: EventStore,
    private readonly nodes: VacatedNodes,
    private readonly machineApi: MachineApiLocation,
  ) {}

  async execute(command: IssueEnrolmentToken): Promise<IssueTokenAnswer> {
    const { person, commandId, secret } = command;
    const node = command.node === null ? null : await this.nodes.nodeOf(command.node, person.id);
    const { state, replaces } = await this.issue(command, node).catch((cause: unknown) => {
      // The same secret under another command id: somebody's mistake, and a token is nobody's second one.
      throw cause instanceof ClaimTaken ? new Refusal('token-refused') : cause;
    });
    // The command id had said something else: what this caller holds would admit nobody, or not to what it asks for.
    const isAsked =
      state?.tokenHash === secret.hash &&
      state.owner === person.id &&
      state.node === node?.id &&
      !state.withdrawn &&
      (state.preadmits === true) === secret.preadmits;
    if (!isAsked) throw new Refusal('token-refused');
    const { address, pins } = this.machineApi;
    return {
      token: { id: commandId, expiresAt: state.expiresAt, name: state.name },
      replaces,
      machineApi: address,
      pins,
    };
  }

  private async issue(command: IssueEnrolmentToken, node: KnownNode | null): Promise<Issued> {
    const { person, commandId, secret, name, expiresIn } = command;
    const issue: IssueToken = {
      type: 'IssueToken',
      tokenHash: secret.hash,
      owner: person.id,
      name,
      expiresIn,
      session: person.sessionId,
      ...(node ? { node: node.id } : {}),
      ...(secret.preadmits ? { preadmits: true } : {}),
    };
    const stream = tokenStream(commandId);
    const options = { actor: { kind: 'person', id: person.id }, commandId } as const;
    if (!node) return { state: (await this.store.decide(token, { stream }, issue, options)).state, replaces: null };
    const { admission, replaces } = await this.nodes.vacateWith(node, part(token, stream, issue), options);
    return { state: admission.state, replaces };
  }
}

import { CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { token, tokenStream, type IssueToken, type TokenState } from '@rollcall/admission';
import { Refusal } from '@rollcall/decider';
import { ClaimTaken, EventStore, part } from '@rollcall/event-store';
import { LogTails } from '@rollcall/log-tails';
import { machine, machineIdOf, machineStream, nodeKey } from '@rollcall/machine';
import type { IssueTokenAnswer } from '@rollcall/wire';
import { OwnedMachines } from '../../machine/owned-machines.js';
import { MachineApiLocation } from '../machine-api-location.js';
import { IssueEnrolmentToken } from './issue-token.command.js';

/** A node by its id, and the id of its newest machine. */
type KnownNode = { readonly id: string; readonly newest: string };

type Issued = { readonly state: TokenState; readonly replaces: string | null };

/**
 * Registers a token, or a credential in its place. Its id is the command's: a repetition finds the same stream and is answered from it. With a node, the node's machine that
 * lives is deleted in the same append: a token that is not issued deletes nothing (N19).
 */
@CommandHandler(IssueEnrolmentToken)
export class IssueEnrolmentTokenHandler implements ICommandHandler<IssueEnrolmentToken> {
  constructor(
    private readonly store: EventStore,
    private readonly machines: OwnedMachines,
    private readonly tails: LogTails,
    private readonly machineApi: MachineApiLocation,
  ) {}

  async execute(command: IssueEnrolmentToken): Promise<IssueTokenAnswer> {
    const { personId, commandId, secret } = command;
    const node = command.node === null ? null : await this.nodeOf(command.node, personId);
    const { state, replaces } = await this.issue(command, node).catch((cause: unknown) => {
      // The same secret under another command id: somebody's mistake, and a token is nobody's second one.
      throw cause instanceof ClaimTaken ? new Refusal('token-refused') : cause;
    });
    if (!state) throw new Error('a token was issued and is not there');
    // The command id had registered another secret: what this caller holds would admit nobody.
    if (state.tokenHash !== secret.hash || state.owner !== personId) throw new Refusal('token-refused');
    const { address, pins } = this.machineApi;
    return {
      token: { id: commandId, expiresAt: state.expiresAt, name: state.name },
      replaces,
      machineApi: address,
      pins,
    };
  }

  private async issue(command: IssueEnrolmentToken, node: KnownNode | null): Promise<Issued> {
    const { personId, commandId, secret, name, expiresIn } = command;
    const issue: IssueToken = {
      type: 'IssueToken',
      tokenHash: secret.hash,
      owner: personId,
      name,
      expiresIn,
      ...(node ? { node: node.id } : {}),
      ...(secret.preadmits ? { preadmits: true } : {}),
    };
    const stream = tokenStream(commandId);
    const options = { actor: { kind: 'person', id: personId }, commandId } as const;
    if (!node) return { state: (await this.store.decide(token, { stream }, issue, options)).state, replaces: null };
    const [{ state }, before] = await this.store.decideTogether(
      [part(token, stream, issue), part(machine, machineStream(node.newest), { type: 'DeleteMachine' })],
      options,
    );
    // It lives where this is a repetition and the token has been redeemed meanwhile.
    if (!before.state.enrolment?.deleted) return { state, replaces: null };
    await this.tails.forget(node.newest);
    return { state, replaces: node.newest };
  }

  /** The node of a machine, be that deleted or not. @throws Refusal `machine-not-found`, `name-ambiguous` */
  private async nodeOf(wanted: string, owner: string): Promise<KnownNode> {
    const stream = machineStream(await this.machines.idOf(wanted, owner));
    const id = (await this.store.view(machine, { stream }))?.state.enrolment?.nodeId;
    const newest = id === undefined ? null : await this.store.holder(nodeKey(id));
    if (id === undefined || newest === null) throw new Refusal('machine-not-found');
    return { id, newest: machineIdOf(newest.stream) };
  }
}

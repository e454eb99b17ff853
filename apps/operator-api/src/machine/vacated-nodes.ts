import { Injectable } from '@nestjs/common';
import { Refusal } from '@rollcall/decider';
import { EventStore, part, type Actor, type Decision, type Part } from '@rollcall/event-store';
import { LogTails } from '@rollcall/log-tails';
import { machine, machineIdOf, machineStream, nodeKey } from '@rollcall/machine';
import { OwnedMachines } from './owned-machines.js';

/** A node by its id, and the id of its newest machine. */
export type KnownNode = { readonly id: string; readonly newest: string };

/** The nodes of one person that are to get their next machines. */
@Injectable()
export class VacatedNodes {
  constructor(
    private readonly store: EventStore,
    private readonly machines: OwnedMachines,
    private readonly tails: LogTails,
  ) {}

  /** The node of a machine, be that deleted or not. @throws Refusal `machine-not-found`, `name-ambiguous` */
  async nodeOf(wanted: string, owner: string): Promise<KnownNode> {
    const stream = machineStream(await this.machines.idOf(wanted, owner));
    const id = (await this.store.view(machine, { stream }))?.state.enrolment?.nodeId;
    const newest = id === undefined ? null : await this.store.holder(nodeKey(id));
    if (id === undefined || newest === null) throw new Refusal('machine-not-found');
    return { id, newest: machineIdOf(newest.stream) };
  }

  /**
   * Records what admits the next machine of a node, and the deletion of the one that lives, in one append: what is refused deletes nothing (N19).
   * `replaces`: the machine that is deleted by now.
   */
  async vacateWith<State>(
    { newest }: KnownNode,
    admission: Part<State>,
    options: { readonly actor: Actor; readonly commandId: string },
  ): Promise<{ readonly admission: Decision<State>; readonly replaces: string | null }> {
    const [decided, before] = await this.store.decideTogether(
      [admission, part(machine, machineStream(newest), { type: 'DeleteMachine' })],
      options,
    );
    // It lives where this is a repetition and somebody has joined by it meanwhile.
    if (!before.state.enrolment?.deleted) return { admission: decided, replaces: null };
    await this.tails.forget(newest);
    return { admission: decided, replaces: newest };
  }
}

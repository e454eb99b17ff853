import { Injectable } from '@nestjs/common';
import { Refusal } from '@rollcall/decider';
import { EventStore } from '@rollcall/event-store';
import { machine, machineStream } from '@rollcall/machine';
import { OwnedMachines } from '../machine/owned-machines.js';

/** The nodes that somebody can bind: their own. A binding is of the node, so it lasts when its machine is replaced. */
@Injectable()
export class BoundNodes {
  constructor(
    private readonly store: EventStore,
    private readonly machines: OwnedMachines,
  ) {}

  /** The node of a machine, as its owner calls that. @throws Refusal `machine-not-found`, `name-ambiguous` */
  async nodeOf(wanted: string, owner: string): Promise<string> {
    const stream = machineStream(await this.machines.idOf(wanted, owner));
    const view = await this.store.view(machine, { stream });
    if (!view?.state.enrolment) throw new Refusal('machine-not-found');
    return view.state.enrolment.nodeId;
  }
}

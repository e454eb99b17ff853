import { CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { Refusal } from '@rollcall/decider';
import { EventStore } from '@rollcall/event-store';
import { machine, machineStream } from '@rollcall/machine';
import type { LabelAnswer } from '@rollcall/wire';
import { OwnedMachines } from '../owned-machines.js';
import { LabelOwnedMachine } from './label-machine.command.js';

/** Labels a machine. A repetition is answered with the labels that it has by then. */
@CommandHandler(LabelOwnedMachine)
export class LabelMachineHandler implements ICommandHandler<LabelOwnedMachine> {
  constructor(
    private readonly store: EventStore,
    private readonly machines: OwnedMachines,
  ) {}

  async execute({ personId, commandId, machine: wanted, set, remove }: LabelOwnedMachine): Promise<LabelAnswer> {
    const id = await this.machines.idOf(wanted, personId);
    const { state } = await this.store.decide(
      machine,
      { stream: machineStream(id) },
      { type: 'SetLabels', set, remove },
      { actor: { kind: 'person', id: personId }, commandId },
    );
    if (state.enrolment?.deleted) throw new Refusal('machine-not-found');
    return { machine: { id, labels: state.labels ?? {} } };
  }
}

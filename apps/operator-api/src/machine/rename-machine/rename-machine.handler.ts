import { CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { EventStore } from '@rollcall/event-store';
import { machine, machineStream } from '@rollcall/machine';
import type { RenameAnswer } from '@rollcall/wire';
import { OwnedMachines } from '../owned-machines.js';
import { RenameOwnedMachine } from './rename-machine.command.js';

/** Names a machine. The answer is what was decided, not what a read model shows already. */
@CommandHandler(RenameOwnedMachine)
export class RenameMachineHandler implements ICommandHandler<RenameOwnedMachine> {
  constructor(
    private readonly store: EventStore,
    private readonly machines: OwnedMachines,
  ) {}

  async execute({ personId, commandId, machine: wanted, name }: RenameOwnedMachine): Promise<RenameAnswer> {
    const id = await this.machines.idOf(wanted, personId);
    const { state } = await this.store.decide(
      machine,
      { stream: machineStream(id) },
      { type: 'RenameMachine', name },
      { actor: { kind: 'person', id: personId }, commandId },
    );
    return { machine: { id, name: state.name?.value ?? name } };
  }
}

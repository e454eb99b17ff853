import { CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { EventStore } from '@rollcall/event-store';
import { LogTails } from '@rollcall/log-tails';
import { machine, machineStream } from '@rollcall/machine';
import type { DeleteAnswer } from '@rollcall/wire';
import { anotherCommand } from '../another-command.js';
import { OwnedMachines } from '../owned-machines.js';
import { DeleteOwnedMachine } from './delete-machine.command.js';

/** Deletes a machine and what it uploaded; one that is deleted already is answered alike. */
@CommandHandler(DeleteOwnedMachine)
export class DeleteMachineHandler implements ICommandHandler<DeleteOwnedMachine> {
  constructor(
    private readonly store: EventStore,
    private readonly machines: OwnedMachines,
    private readonly tails: LogTails,
  ) {}

  async execute({ personId, commandId, machine: wanted }: DeleteOwnedMachine): Promise<DeleteAnswer> {
    const id = await this.machines.idOf(wanted, personId);
    const { state } = await this.store.decide(
      machine,
      { stream: machineStream(id) },
      { type: 'DeleteMachine' },
      { actor: { kind: 'person', id: personId }, commandId },
    );
    if (!state.enrolment?.deleted) throw anotherCommand();
    await this.tails.forget(id);
    return { machine: { id, name: state.name?.value ?? null, lifecycle: 'deleted' } };
  }
}

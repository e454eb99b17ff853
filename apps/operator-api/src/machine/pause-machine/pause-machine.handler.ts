import { CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { EventStore } from '@rollcall/event-store';
import { machine, machineStream } from '@rollcall/machine';
import type { PauseAnswer } from '@rollcall/wire';
import { OwnedMachines } from '../owned-machines.js';
import { PauseOwnedMachine } from './pause-machine.command.js';
import { pauseAnswer } from './pause-answer.js';

/** Pauses a machine. A repetition is answered with the pause that is in force by then. */
@CommandHandler(PauseOwnedMachine)
export class PauseMachineHandler implements ICommandHandler<PauseOwnedMachine> {
  constructor(
    private readonly store: EventStore,
    private readonly machines: OwnedMachines,
  ) {}

  async execute({ personId, commandId, machine: wanted, note, until }: PauseOwnedMachine): Promise<PauseAnswer> {
    const id = await this.machines.idOf(wanted, personId);
    const decision = await this.store.decide(
      machine,
      { stream: machineStream(id) },
      { type: 'PauseMachine', note, until },
      { actor: { kind: 'person', id: personId }, commandId },
    );
    return pauseAnswer(id, decision);
  }
}

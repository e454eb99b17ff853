import { CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { EventStore } from '@rollcall/event-store';
import { machine, machineStream } from '@rollcall/machine';
import type { PauseAnswer } from '@rollcall/wire';
import { OwnedMachines } from '../owned-machines.js';
import { pauseAnswer } from '../pause-machine/pause-answer.js';
import { ResumeOwnedMachine } from './resume-machine.command.js';

/** Ends a pause. A repetition is answered with what is in force by then. */
@CommandHandler(ResumeOwnedMachine)
export class ResumeMachineHandler implements ICommandHandler<ResumeOwnedMachine> {
  constructor(
    private readonly store: EventStore,
    private readonly machines: OwnedMachines,
  ) {}

  async execute({ personId, commandId, machine: wanted }: ResumeOwnedMachine): Promise<PauseAnswer> {
    const id = await this.machines.idOf(wanted, personId);
    const decision = await this.store.decide(
      machine,
      { stream: machineStream(id) },
      { type: 'ResumeMachine' },
      { actor: { kind: 'person', id: personId }, commandId },
    );
    return pauseAnswer(id, decision);
  }
}

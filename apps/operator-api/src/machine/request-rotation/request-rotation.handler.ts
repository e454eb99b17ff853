import { CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { Refusal } from '@rollcall/decider';
import { EventStore } from '@rollcall/event-store';
import { machine, machineStream } from '@rollcall/machine';
import type { RotationRequestAnswer } from '@rollcall/wire';
import { OwnedMachines } from '../owned-machines.js';
import { RequestOwnedRotation } from './request-rotation.command.js';

/** Records the request, unless one waits already: then that one is the answer. */
@CommandHandler(RequestOwnedRotation)
export class RequestRotationHandler implements ICommandHandler<RequestOwnedRotation> {
  constructor(
    private readonly store: EventStore,
    private readonly machines: OwnedMachines,
  ) {}

  async execute({ personId, commandId, machine: wanted }: RequestOwnedRotation): Promise<RotationRequestAnswer> {
    const id = await this.machines.idOf(wanted, personId);
    const { state } = await this.store.decide(
      machine,
      { stream: machineStream(id) },
      { type: 'RequestRotation' },
      { actor: { kind: 'person', id: personId }, commandId },
    );
    if (state.enrolment?.deleted) throw new Refusal('machine-not-found');
    return { machine: { id }, rotation: state.requests?.rotation?.stamp ?? null };
  }
}

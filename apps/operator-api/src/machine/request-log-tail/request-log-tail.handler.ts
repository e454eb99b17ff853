import { CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { Refusal } from '@rollcall/decider';
import { EventStore } from '@rollcall/event-store';
import { machine, machineStream } from '@rollcall/machine';
import type { LogTailRequestAnswer } from '@rollcall/wire';
import { anotherCommand } from '../another-command.js';
import { OwnedMachines } from '../owned-machines.js';
import { RequestOwnedLogTail } from './request-log-tail.command.js';

/** Records the request. A repetition is answered with the newest request, which has taken the place of every older one. */
@CommandHandler(RequestOwnedLogTail)
export class RequestLogTailHandler implements ICommandHandler<RequestOwnedLogTail> {
  constructor(
    private readonly store: EventStore,
    private readonly machines: OwnedMachines,
  ) {}

  async execute({ personId, commandId, machine: wanted }: RequestOwnedLogTail): Promise<LogTailRequestAnswer> {
    const id = await this.machines.idOf(wanted, personId);
    const { state } = await this.store.decide(
      machine,
      { stream: machineStream(id) },
      { type: 'RequestLogTail' },
      { actor: { kind: 'person', id: personId }, commandId },
    );
    if (state.enrolment?.deleted) throw new Refusal('machine-not-found');
    const logTail = state.requests?.logTail ?? state.requests?.logTailReceived;
    if (!logTail) throw anotherCommand();
    return { machine: { id }, logTail };
  }
}

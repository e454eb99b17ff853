import { CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { EventStore } from '@rollcall/event-store';
import { promiseBook, promisesStream } from '@rollcall/promise-book';
import { parseSchedule } from '@rollcall/promises';
import type { PromiseAnswer } from '@rollcall/wire';
import { PromiseSubject } from '../promise-subject.js';
import { MakeOwnPromise } from './make-promise.command.js';

/** Makes a promise. A repetition is answered with what is promised by then. */
@CommandHandler(MakeOwnPromise)
export class MakePromiseHandler implements ICommandHandler<MakeOwnPromise> {
  constructor(
    private readonly store: EventStore,
    private readonly subjects: PromiseSubject,
  ) {}

  async execute({ personId, commandId, subject, schedule }: MakeOwnPromise): Promise<PromiseAnswer> {
    const selector = await this.subjects.selectorOf(subject, personId);
    const { state } = await this.store.decide(
      promiseBook,
      { stream: promisesStream(personId) },
      { type: 'MakePromise', selector, schedule: parseSchedule(schedule).text },
      { actor: { kind: 'person', id: personId }, commandId },
    );
    return { promise: { selector, schedule: state[selector] ?? null } };
  }
}

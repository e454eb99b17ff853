import { CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { EventStore } from '@rollcall/event-store';
import { promiseBook, promisesStream } from '@rollcall/promise-book';
import type { PromiseAnswer } from '@rollcall/wire';
import { PromiseSubject } from '../promise-subject.js';
import { WithdrawOwnPromise } from './withdraw-promise.command.js';

/** Takes a promise back. A repetition is answered with what is promised by then. */
@CommandHandler(WithdrawOwnPromise)
export class WithdrawPromiseHandler implements ICommandHandler<WithdrawOwnPromise> {
  constructor(
    private readonly store: EventStore,
    private readonly subjects: PromiseSubject,
  ) {}

  async execute({ personId, commandId, subject }: WithdrawOwnPromise): Promise<PromiseAnswer> {
    const selector = await this.subjects.selectorOf(subject, personId);
    const { state } = await this.store.decide(
      promiseBook,
      { stream: promisesStream(personId) },
      { type: 'WithdrawPromise', selector },
      { actor: { kind: 'person', id: personId }, commandId },
    );
    return { promise: { selector, schedule: state[selector] ?? null } };
  }
}

import { CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import {
  afterQuestion,
  isApproval,
  isOpen,
  login,
  loginDeviceCodeKey,
  loginIdOf,
  POLL,
  type Pace,
} from '@rollcall/admission';
import { Attempts } from '@rollcall/attempts';
import { Refusal } from '@rollcall/decider';
import { EventStore, part } from '@rollcall/event-store';
import { hashOf, isSecret, type SignInAnswer } from '@rollcall/wire';
import { startSession } from '../../session/start-session.js';
import { RedeemLogin } from './redeem-login.command.js';

/**
 * Turns an approved login into a session. It is picked up in the append that starts the session: of any number of questions at any number of
 * instances one is answered with it, and all others like those about a code that is over or never existed.
 */
@CommandHandler(RedeemLogin)
export class RedeemLoginHandler implements ICommandHandler<RedeemLogin> {
  constructor(
    private readonly store: EventStore,
    private readonly attempts: Attempts,
  ) {}

  async execute({ deviceCode }: RedeemLogin): Promise<SignInAnswer> {
    const key = loginDeviceCodeKey(hashOf(deviceCode));
    const view = isSecret('rcd', deviceCode) ? await this.store.view(login, { claim: key }) : null;
    if (!view?.state) throw new Refusal('code-refused');
    const { stream, state } = view;
    const { answer } = state;
    const id = loginIdOf(stream);
    if (answer === 'refused') throw new Refusal('access-denied');
    if (isApproval(answer)) {
      const { person, authenticatedAt } = answer;
      const using = [part(login, stream, { type: 'PickUpLogin' })];
      return startSession(this.store, { id: person, proof: { login: id, authenticatedAt }, using });
    }
    // The record's own time: while nothing is recorded no code ends sooner or later for the program than for the person.
    if (!isOpen(state, (await this.store.newest()).recordedAt)) throw new Refusal('code-refused');
    const isTooFast = await this.attempts.count(`login:${id}`, (before: Pace | null, now) => {
      const { pace, isTooFast } = afterQuestion(before, now);
      return { memory: pace, answer: isTooFast };
    });
    throw isTooFast ? new Refusal('asked-too-soon', { retryAfter: POLL.interval }) : new Refusal('code-pending');
  }
}

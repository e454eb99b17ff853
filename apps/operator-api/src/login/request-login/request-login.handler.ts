import { CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { afterStart, CODE_ALPHABET, login, loginStream, userCodeOf, type Starts } from '@rollcall/admission';
import { Attempts } from '@rollcall/attempts';
import { Refusal } from '@rollcall/decider';
import { ClaimTaken, EventStore } from '@rollcall/event-store';
import { hashOf, makeSecret } from '@rollcall/wire';
import { randomInt, randomUUID } from 'node:crypto';
import { BeginLogin, type LoginCodes } from './request-login.command.js';

/** Makes both codes and answers them once: what is kept are their hashes. */
@CommandHandler(BeginLogin)
export class RequestLoginHandler implements ICommandHandler<BeginLogin> {
  constructor(
    private readonly store: EventStore,
    private readonly attempts: Attempts,
  ) {}

  async execute({ claims }: BeginLogin): Promise<LoginCodes> {
    const wait = await this.attempts.count('logins', (before: Starts | null, now) => {
      const { starts, wait } = afterStart(before, now);
      return { memory: starts, answer: wait };
    });
    if (wait > 0) throw new Refusal('slow-down', { retryAfter: Math.ceil(wait / 1_000) });
    for (;;) {
      const userCode = userCodeOf(Array.from({ length: 8 }, () => randomInt(CODE_ALPHABET.length)));
      const deviceCode = makeSecret('rcd');
      const hashes = { userCodeHash: hashOf(userCode), deviceCodeHash: hashOf(deviceCode) };
      try {
        await this.store.decide(
          login,
          { stream: loginStream(randomUUID()) },
          { type: 'RequestLogin', ...hashes, claims },
          { actor: { kind: 'plane', id: 'sign-in' } },
        );
        return { userCode, deviceCode };
      } catch (error) {
        // The same letters were drawn before, once in some thousand million times: draw again.
        if (!(error instanceof ClaimTaken)) throw error;
      }
    }
  }
}

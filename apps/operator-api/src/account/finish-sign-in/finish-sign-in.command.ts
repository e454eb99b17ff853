import { Command } from '@nestjs/cqrs';
import type { SignInAnswer } from '@rollcall/wire';
import type { InBrowser } from '../../session/start-session.js';
import type { KnownAccount } from '../identity-provider.js';

/** Somebody showed an account at the provider. */
export class SignInByAccount extends Command<SignInAnswer> {
  constructor(
    readonly account: KnownAccount,
    readonly browser: InBrowser,
  ) {
    super();
  }
}

import { Command } from '@nestjs/cqrs';
import type { SignInAnswer } from '@rollcall/wire';
import type { InBrowser } from '../start-session.js';

/** A person presents a one-time link. */
export class SignIn extends Command<SignInAnswer> {
  constructor(
    readonly link: string,
    /** The browser that does; null: a program. */
    readonly browser: InBrowser | null = null,
  ) {
    super();
  }
}

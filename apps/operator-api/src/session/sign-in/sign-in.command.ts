import { Command } from '@nestjs/cqrs';
import type { SignInAnswer } from '@rollcall/wire';

/** A person presents a one-time link. */
export class SignIn extends Command<SignInAnswer> {
  constructor(readonly link: string) {
    super();
  }
}

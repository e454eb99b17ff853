import { Command } from '@nestjs/cqrs';
import type { SignInAnswer } from '@rollcall/wire';

/** A program asks whether a person has let it sign in. */
export class RedeemLogin extends Command<SignInAnswer> {
  constructor(readonly deviceCode: string) {
    super();
  }
}

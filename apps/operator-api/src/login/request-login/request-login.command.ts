import { Command } from '@nestjs/cqrs';
import type { DeviceClaims } from '@rollcall/admission';

/** Both codes, before anything but their hashes is kept. */
export type LoginCodes = { readonly userCode: string; readonly deviceCode: string };

/** A program wants to sign in. */
export class BeginLogin extends Command<LoginCodes> {
  constructor(readonly claims: DeviceClaims) {
    super();
  }
}

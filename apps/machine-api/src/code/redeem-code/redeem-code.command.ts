import { Command } from '@nestjs/cqrs';
import type { EnrolmentAnswer } from '@rollcall/wire';

/** An installation asks whether a person has let it in. */
export class RedeemShortCode extends Command<EnrolmentAnswer> {
  constructor(readonly deviceCode: string) {
    super();
  }
}

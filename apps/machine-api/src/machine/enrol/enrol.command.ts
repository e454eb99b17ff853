import { Command } from '@nestjs/cqrs';
import type { SelfReport } from '@rollcall/machine';
import type { EnrolmentAnswer } from '@rollcall/wire';

/** The machine, and whether it was made by this request. */
export type Enrolled = { readonly created: boolean; readonly answer: EnrolmentAnswer };

/** An installation presents an enrolment token, and the hash of a credential that it made itself; or a credential that a person registered. */
export class EnrolInstallation extends Command<Enrolled> {
  constructor(
    /** null: the credential itself is the right to join. */
    readonly token: string | null,
    /** SHA-256, hex. */
    readonly identifierHash: string,
    /** SHA-256, hex. */
    readonly credentialHash: string,
    readonly report: SelfReport,
  ) {
    super();
  }
}

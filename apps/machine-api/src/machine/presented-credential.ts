import { Injectable } from '@nestjs/common';
import { Refusal } from '@rollcall/decider';
import { Authenticator, type Principal } from '@rollcall/nest-platform';
import { hashOf, isSecret } from '@rollcall/wire';

/** Somebody who presents what looks like a machine's credential. Whose it is, and whether it still acts, is decided on the record. */
export type PresentedCredential = Principal & {
  readonly kind: 'machine';
  /** SHA-256, hex. */
  readonly keyHash: string;
};

/** Refuses what cannot be a credential before anything is read (O5, O20). */
@Injectable()
export class CredentialForm extends Authenticator {
  override authenticate(bearer: string | null): PresentedCredential {
    if (bearer === null || !isSecret('rcm', bearer)) throw this.unknown();
    return { kind: 'machine', keyHash: hashOf(bearer) };
  }

  override unknown(): Refusal {
    return new Refusal('credential-unknown');
  }
}

import { Injectable } from '@nestjs/common';
import { Refusal } from '@rollcall/decider';
import { EventStore } from '@rollcall/event-store';
import { identifierKey, machine, type NoteRefusedClaim } from '@rollcall/machine';

/** Makes a refused claim on an identifier visible on the machine that has it (C03). */
@Injectable()
export class RefusedClaims {
  constructor(private readonly store: EventStore) {}

  /** Records it, if the machine still lives. @throws Refusal `unavailable`, as every decision. */
  async note(identifierHash: string, what: Pick<NoteRefusedClaim, 'token' | 'hostname'>): Promise<void> {
    try {
      await this.store.decide(
        machine,
        { claim: identifierKey(identifierHash) },
        { type: 'NoteRefusedClaim', ...what },
        { actor: { kind: 'plane', id: 'admission' } },
      );
    } catch (error) {
      // It was deleted this very moment; the next attempt gets the identifier.
      if (!(error instanceof Refusal && error.code === 'machine-not-found')) throw error;
    }
  }
}

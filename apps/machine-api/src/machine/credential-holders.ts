import { Injectable } from '@nestjs/common';
import { EventStore } from '@rollcall/event-store';
import { credentialKey, machineIdOf } from '@rollcall/machine';

const MOST_KNOWN = 200_000;

/**
 * Which machine a credential belongs to. A credential's key is never released and never moves, so an answer may be remembered for
 * ever; whether the credential still acts is not remembered but decided on the record, check by check.
 */
@Injectable()
export class CredentialHolders {
  private readonly known = new Map<string, string>();

  constructor(private readonly store: EventStore) {}

  /** The machine's id; null for a credential that nobody registered. */
  machineOf(keyHash: string): string | Promise<string | null> {
    return this.known.get(keyHash) ?? this.lookUp(keyHash);
  }

  private async lookUp(keyHash: string): Promise<string | null> {
    const held = await this.store.holder(credentialKey(keyHash));
    if (!held) return null;
    const machine = machineIdOf(held.stream);
    this.remember(keyHash, machine);
    return machine;
  }

  private remember(keyHash: string, machine: string): void {
    const [oldest] = this.known.size >= MOST_KNOWN ? this.known.keys() : [];
    if (oldest !== undefined) this.known.delete(oldest);
    this.known.set(keyHash, machine);
  }
}

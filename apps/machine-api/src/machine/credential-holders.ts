import { Injectable } from '@nestjs/common';
import { EventStore } from '@rollcall/event-store';
import { credentialKey, machineIdOf } from '@rollcall/machine';
import { LRUCache } from 'lru-cache';

const MOST_KNOWN = 200_000;

/**
 * Which machine a credential belongs to. A credential's key is never released and never moves, so an answer may be remembered for
 * ever; whether the credential still acts is not remembered but decided on the record, check by check.
 */
@Injectable()
export class CredentialHolders {
  private readonly known = new LRUCache<string, string>({ max: MOST_KNOWN });

  constructor(private readonly store: EventStore) {}

  /** The machine's id; null for a credential that nobody registered. */
  machineOf(keyHash: string): string | Promise<string | null> {
    return this.known.get(keyHash) ?? this.lookUp(keyHash);
  }

  private async lookUp(keyHash: string): Promise<string | null> {
    const held = await this.store.holder(credentialKey(keyHash));
    if (!held) return null;
    const machine = machineIdOf(held.stream);
    this.known.set(keyHash, machine);
    return machine;
  }
}

import { Injectable } from '@nestjs/common';
import { Refusal } from '@rollcall/decider';
import { EventStore, type Actor } from '@rollcall/event-store';
import { generationOf, machine, machineStream, refusals, refusalsStream, type RefusedFor } from '@rollcall/machine';
import { LRUCache } from 'lru-cache';

const DOOR: Actor = { kind: 'plane', id: 'machine-api' };

/** The record says that an hour lies between two notes; this instance does not even ask it more often than that. */
const SELDOM = { max: 50_000, ttl: 600_000 };

const REASONS: readonly string[] = ['credential-revoked', 'generation-behind'] satisfies readonly RefusedFor[];

/**
 * Sees to it that the first use of a credential that does not act any more is recorded (B7). In a stream beside the machine's own, in which
 * nothing follows a deletion (I9).
 */
@Injectable()
export class RefusedUses {
  private readonly recent = new LRUCache<string, true>(SELDOM);

  constructor(private readonly store: EventStore) {}

  /** Does something for a machine by one of its credentials; a refusal of that credential is noted, and thrown all the same. */
  async noted<Answer>(id: string, keyHash: string, work: () => Promise<Answer>): Promise<Answer> {
    try {
      return await work();
    } catch (error) {
      if (error instanceof Refusal && REASONS.includes(error.code))
        await this.note(id, keyHash, error.code as RefusedFor);
      throw error;
    }
  }

  /** Whatever the record says to it, the caller gets the refusal: the next refused use is noted instead. */
  private async note(id: string, keyHash: string, code: RefusedFor): Promise<void> {
    const key = `${keyHash} ${code}`;
    if (this.recent.has(key)) return;
    try {
      const view = await this.store.view(machine, { stream: machineStream(id) });
      if (!view) return;
      const generation = generationOf(view.state.credential, keyHash);
      await this.store.decide(
        refusals,
        { stream: refusalsStream(id) },
        { type: 'NoteRefusal', machine: id, code, generation, keyHash, lastAcceptedAt: view.lastCheckAt },
        { actor: DOOR },
      );
      this.recent.set(key, true);
    } catch {
      // The record is away, and says so at its own place.
    }
  }
}

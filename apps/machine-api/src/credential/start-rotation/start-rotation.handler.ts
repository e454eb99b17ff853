import { CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { Refusal } from '@rollcall/decider';
import { ClaimTaken, EventStore } from '@rollcall/event-store';
import { credentialKey, generationOf, machine, machineStream } from '@rollcall/machine';
import type { RotationAnswer } from '@rollcall/wire';
import { CredentialHolders } from '../../machine/credential-holders.js';
import { RefusedUses } from '../refused-uses.js';
import { StartMachineRotation } from './start-rotation.command.js';

/** Registers the hash on the stream of the machine that holds the presented credential. */
@CommandHandler(StartMachineRotation)
export class StartRotationHandler implements ICommandHandler<StartMachineRotation> {
  constructor(
    private readonly store: EventStore,
    private readonly holders: CredentialHolders,
    private readonly refusedUses: RefusedUses,
  ) {}

  async execute({ keyHash, nextKeyHash }: StartMachineRotation): Promise<RotationAnswer> {
    const id = await this.holders.machineOf(keyHash);
    if (id === null) throw new Refusal('credential-unknown');
    return this.refusedUses.noted(id, keyHash, () => this.register(id, keyHash, nextKeyHash));
  }

  private async register(id: string, keyHash: string, nextKeyHash: string): Promise<RotationAnswer> {
    // A claim is never given back, so what is known now stays known, whatever the decision waits for.
    const isKnown = (await this.store.holder(credentialKey(nextKeyHash))) !== null;
    try {
      const { state } = await this.store.decide(
        machine,
        { stream: machineStream(id) },
        { type: 'StartRotation', keyHash, nextKeyHash, isKnown },
        // A repetition is found by the hash, which the machine's own rules know.
        { actor: { kind: 'machine', id } },
      );
      const generation = generationOf(state.credential, nextKeyHash);
      if (generation === null) throw new Error(`machine ${id} has registered a hash and does not know it`);
      return { generation };
    } catch (error) {
      if (error instanceof ClaimTaken) throw new Refusal('hash-registered-before');
      throw error;
    }
  }
}

import { CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { Refusal } from '@rollcall/decider';
import { EventStore } from '@rollcall/event-store';
import { LogTails } from '@rollcall/log-tails';
import { machine, machineStream } from '@rollcall/machine';
import type { LogTailReceipt } from '@rollcall/wire';
import { RefusedUses } from '../../credential/refused-uses.js';
import { CredentialHolders } from '../../machine/credential-holders.js';
import { ReceiveMachineLogTail } from './receive-log-tail.command.js';

/**
 * Keeps the bytes, then records the receipt, which alone makes them the tail that people see: so whatever is recorded as received is there,
 * and a crash in between costs another upload. What the rules refuse is refused before anything is kept (O26).
 */
@CommandHandler(ReceiveMachineLogTail)
export class ReceiveLogTailHandler implements ICommandHandler<ReceiveMachineLogTail> {
  constructor(
    private readonly store: EventStore,
    private readonly holders: CredentialHolders,
    private readonly tails: LogTails,
    private readonly refusedUses: RefusedUses,
  ) {}

  async execute(upload: ReceiveMachineLogTail): Promise<LogTailReceipt> {
    const { keyHash } = upload;
    const id = await this.holders.machineOf(keyHash);
    if (id === null) throw new Refusal('credential-unknown');
    return this.refusedUses.noted(id, keyHash, () => this.receive(id, upload));
  }

  private async receive(id: string, { keyHash, stamp, bytes }: ReceiveMachineLogTail): Promise<LogTailReceipt> {
    const stream = machineStream(id);
    const command = { type: 'ReceiveLogTail', keyHash, stamp } as const;
    const before = await this.store.view(machine, { stream });
    machine.decide(before?.state ?? machine.initial(), command, { now: 0, lastCheckAt: null });
    await this.tails.keep({ machine: id, stamp, bytes });
    try {
      await this.store.decide(machine, { stream }, command, { actor: { kind: 'machine', id } });
    } catch (error) {
      // After anything else than a refusal by the rules it may be recorded all the same, and then the bytes are needed.
      if (error instanceof Refusal && error.code !== 'unavailable') await this.discardUnlessReceived(id, stamp);
      throw error;
    }
    await this.tails.discardBefore(id, stamp);
    return { logTail: stamp };
  }

  /** Refused between the look and the decision: by a newer request, a deletion, or a twin of this upload, whose bytes these are too. */
  private async discardUnlessReceived(id: string, stamp: string): Promise<void> {
    const after = await this.store.view(machine, { stream: machineStream(id) });
    if (after?.state.requests?.logTailReceived !== stamp) await this.tails.discard(id, stamp);
  }
}

import { CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { Refusal, timestampOf } from '@rollcall/decider';
import { EventStore } from '@rollcall/event-store';
import { answerTo, machine, machineStream, rotationAsked } from '@rollcall/machine';
import type { CheckAnswer } from '@rollcall/wire';
import { ChainTokens } from '../../chain/chain-tokens.js';
import { RefusedUses } from '../../credential/refused-uses.js';
import { RecordEpoch } from '../../record/record-epoch.js';
import { CheckCounts } from '../check-counts.js';
import { CredentialHolders } from '../credential-holders.js';
import { MachineTerms } from '../machine-terms.js';
import { AcceptMachineCheck, type SaidCheck } from './accept-check.command.js';

/** Records a check on the stream of the machine that holds the credential, and answers from the state after it. */
@CommandHandler(AcceptMachineCheck)
export class AcceptMachineCheckHandler implements ICommandHandler<AcceptMachineCheck> {
  constructor(
    private readonly store: EventStore,
    private readonly holders: CredentialHolders,
    private readonly tokens: ChainTokens,
    private readonly epoch: RecordEpoch,
    private readonly terms: MachineTerms,
    private readonly counts: CheckCounts,
    private readonly refusedUses: RefusedUses,
  ) {}

  async execute({ keyHash, check }: AcceptMachineCheck): Promise<CheckAnswer> {
    const id = await this.holders.machineOf(keyHash);
    if (id === null) throw new Refusal('credential-unknown');
    return this.refusedUses.noted(id, keyHash, () => this.accept(id, keyHash, check));
  }

  private async accept(id: string, keyHash: string, check: SaidCheck): Promise<CheckAnswer> {
    const place = { machine: id, epoch: this.epoch.current };
    const { chainToken, ...said } = check;
    const chain = chainToken === null ? null : this.tokens.read(place, chainToken);
    const { policy, pins, rotation } = this.terms;
    const { state, recordedAt, repeated } = await this.store.decide(
      machine,
      { stream: machineStream(id) },
      { type: 'AcceptCheck', keyHash, ...said, chain, policy },
      // A repetition is found by the checkId, which the machine's own rules know.
      { actor: { kind: 'machine', id }, commandId: null, onKnownHead: true },
    );
    this.counts.recorded({ repeated });
    const { name, owner, generation, interval, chain: issued, logTail } = answerTo(state, check.boot);
    return {
      machine: { id, name, owner, generation },
      interval,
      chain: this.tokens.issue(place, issued),
      ...(pins.length > 0 ? { pins } : {}),
      requests: { logTail, rotate: rotationAsked(state, rotation, recordedAt) },
      serverTime: timestampOf(recordedAt),
    };
  }
}

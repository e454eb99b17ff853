import { CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { code, codeIdOf, deviceCodeKey, isOpen, POLL, type CodeApproval, type CodeState } from '@rollcall/admission';
import { instantOf, Refusal } from '@rollcall/decider';
import { ClaimTaken, EventStore } from '@rollcall/event-store';
import { identifierKey, machine, machineStream, redemptionKey } from '@rollcall/machine';
import { hashOf, isSecret, type EnrolmentAnswer } from '@rollcall/wire';
import { randomUUIDv7 } from 'node:crypto';
import { deleteUnlessAdmitted, requireAdmittingPerson } from '../../machine/admitting-person.js';
import { MachineTerms } from '../../machine/machine-terms.js';
import { RefusedClaims } from '../../machine/refused-claims.js';
import { Successions } from '../../machine/successions.js';
import { PollPace } from '../poll-pace.js';
import { RedeemShortCode } from './redeem-code.command.js';

type Requested = NonNullable<CodeState>;

/**
 * Admits an installation whose code a person approved. The hash that it registered when it asked for the code becomes its generation 1 in the
 * append that admits it, so no credential is ever in the exchange. The redemption is a claim: of any number of questions at any number of
 * instances one is answered with the machine, and all others like those about a code that expired, was refused, or never existed (C08).
 */
@CommandHandler(RedeemShortCode)
export class RedeemShortCodeHandler implements ICommandHandler<RedeemShortCode> {
  constructor(
    private readonly store: EventStore,
    private readonly terms: MachineTerms,
    private readonly pace: PollPace,
    private readonly refusedClaims: RefusedClaims,
    private readonly successions: Successions,
  ) {}

  async execute({ deviceCode }: RedeemShortCode): Promise<EnrolmentAnswer> {
    const key = deviceCodeKey(hashOf(deviceCode));
    const view = isSecret('rcd', deviceCode) ? await this.store.view(code, { claim: key }) : null;
    if (!view?.state) throw new Refusal('code-refused');
    const { stream, state } = view;
    const id = codeIdOf(stream);
    if (state.answer !== null && state.answer !== 'refused') return this.admit(id, state, state.answer);
    // The record's own time: while nothing is recorded no code ends sooner or later for it than for the person.
    if (!isOpen(state, (await this.store.newest()).recordedAt)) throw new Refusal('code-refused');
    if (this.pace.isTooFast(id)) throw new Refusal('slow-down', { retryAfter: POLL.interval });
    throw new Refusal('code-pending');
  }

  private async admit(
    id: string,
    { keyHash, identifierHash, report, expiresAt }: Requested,
    { approvedBy, name, node }: CodeApproval,
  ): Promise<EnrolmentAnswer> {
    if (await this.store.holder(redemptionKey(id))) throw new Refusal('code-refused');
    const machineId = randomUUIDv7();
    try {
      await requireAdmittingPerson(this.store, approvedBy);
      const succeeds = node === undefined ? null : await this.successions.to(node, approvedBy);
      const { state } = await this.store.decide(
        machine,
        { stream: machineStream(machineId) },
        {
          type: 'AdmitMachine',
          machineId,
          nodeId: node ?? randomUUIDv7(),
          token: { id, expiresAt: instantOf(expiresAt), owner: approvedBy, name, via: 'code' },
          identifierHash,
          keyHash,
          report,
          ...(succeeds ? { succeeds } : {}),
        },
        { actor: { kind: 'person', id: approvedBy } },
      );
      await deleteUnlessAdmitted(this.store, approvedBy, machineId);
      const { interval } = this.terms.policy;
      return { machine: { id: machineId, name: state.name?.value ?? null, owner: approvedBy }, interval };
    } catch (error) {
      // Approved, and over before it was picked up; or its person was removed, or another admission to its node was quicker.
      if (error instanceof Refusal && error.code === 'token-refused') throw new Refusal('code-refused');
      if (!(error instanceof ClaimTaken)) throw error;
      if (error.key !== identifierKey(identifierHash)) throw new Refusal('code-refused');
      await this.refusedClaims.note(identifierHash, { token: id, hostname: report.hostname });
      throw new Refusal('identifier-in-use');
    }
  }
}

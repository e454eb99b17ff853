import { CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { enrolmentTokenKey, issuedToken, token, tokenIdOf, tokenStream, type IssuedToken } from '@rollcall/admission';
import { Refusal } from '@rollcall/decider';
import { ClaimTaken, EventStore } from '@rollcall/event-store';
import {
  credentialKey,
  identifierKey,
  machine,
  machineIdOf,
  machineStream,
  redemptionKey,
  type MachineState,
} from '@rollcall/machine';
import { hashOf, isSecret } from '@rollcall/wire';
import { randomUUIDv7 } from 'node:crypto';
import { deleteUnlessAdmitted, requireAdmittingPerson } from '../admitting-person.js';
import { MachineTerms } from '../machine-terms.js';
import { RefusedClaims } from '../refused-claims.js';
import { Successions } from '../successions.js';
import { EnrolInstallation, type Enrolled } from './enrol.command.js';

/**
 * Admits an installation by a token, or by the credential that a person registered for it. Whoever comes second finds the redemption taken and is judged by it, so of any number of
 * requests on any number of instances one makes a machine, and the same installation again finds its own (C07).
 */
@CommandHandler(EnrolInstallation)
export class EnrolInstallationHandler implements ICommandHandler<EnrolInstallation> {
  constructor(
    private readonly store: EventStore,
    private readonly terms: MachineTerms,
    private readonly refusedClaims: RefusedClaims,
    private readonly successions: Successions,
  ) {}

  async execute(command: EnrolInstallation): Promise<Enrolled> {
    const presented = await this.presented(command);
    const redeemed = await this.redeemedBy(presented, command);
    if (redeemed) return redeemed;
    try {
      return await this.admit(presented, command);
    } catch (error) {
      if (!(error instanceof ClaimTaken)) throw error;
      // Somebody was quicker, with this token or with what else this installation brought.
      const quicker = await this.redeemedBy(presented, command);
      if (quicker) return quicker;
      throw await this.taken(error.key, presented, command);
    }
  }

  /** What a person issued: the token, or the credential. @throws Refusal the same for everything that nobody issued. */
  private async presented({ token: secret, credentialHash }: EnrolInstallation): Promise<IssuedToken> {
    if (secret !== null && !isSecret('rce', secret)) throw new Refusal('token-refused');
    const tokenHash = secret === null ? credentialHash : hashOf(secret);
    const view = await this.store.view(token, { claim: enrolmentTokenKey(tokenHash) });
    const issued = view && issuedToken(tokenIdOf(view.stream), view.state);
    // Each by its own door: what was registered as a token is not a credential, whatever it looks like.
    if (!issued || (issued.via === 'preadmission') !== (secret === null)) throw new Refusal('token-refused');
    return issued;
  }

  /** The machine that redeemed the token, if it is this installation's own; null while nobody did. */
  private async redeemedBy({ id }: IssuedToken, { credentialHash }: EnrolInstallation): Promise<Enrolled | null> {
    const view = await this.store.view(machine, { claim: redemptionKey(id) });
    if (!view) return null;
    // Withdrawn since it was looked at.
    if (view.stream === tokenStream(id)) throw new Refusal('token-refused');
    const { enrolment, credential } = view.state;
    // An answer that was lost came before any rotation: a retired key must not take the place of the one that works.
    const isRetired = credential.current !== null && credential.current.keyHash !== credentialHash;
    if (!enrolment || enrolment.deleted || enrolment.firstKeyHash !== credentialHash || isRetired)
      throw new Refusal('token-refused');
    await deleteUnlessAdmitted(this.store, enrolment.owner, machineIdOf(view.stream));
    return this.answer(view.stream, view.state, false);
  }

  /** Decides the admission on a new stream, at the record's time. @throws Refusal `token-refused` for an expired token. */
  private async admit(presented: IssuedToken, command: EnrolInstallation): Promise<Enrolled> {
    const machineId = randomUUIDv7();
    const { node, owner } = presented;
    await requireAdmittingPerson(this.store, owner);
    const succeeds = node === null ? null : await this.successions.to(node, owner);
    const { stream, state } = await this.store.decide(
      machine,
      { stream: machineStream(machineId) },
      {
        type: 'AdmitMachine',
        machineId,
        nodeId: node ?? randomUUIDv7(),
        token: presented,
        identifierHash: command.identifierHash,
        keyHash: command.credentialHash,
        report: command.report,
        ...(succeeds ? { succeeds } : {}),
      },
      { actor: { kind: 'person', id: owner } },
    );
    await deleteUnlessAdmitted(this.store, owner, machineId);
    return this.answer(stream, state, true);
  }

  private async taken(key: string, { id }: IssuedToken, command: EnrolInstallation): Promise<Refusal> {
    const { credentialHash, identifierHash, report } = command;
    if (key === identifierKey(identifierHash)) {
      await this.refusedClaims.note(identifierHash, { token: id, hostname: report.hostname });
      return new Refusal('identifier-in-use');
    }
    // Another machine of the token's node joined meanwhile.
    if (key !== credentialKey(credentialHash)) return new Refusal('token-refused');
    const message = 'was registered before; make a new credential';
    return new Refusal('invalid-body', { errors: [{ field: 'credentialHash', message }] });
  }

  private answer(stream: string, { enrolment, name }: MachineState, created: boolean): Enrolled {
    if (!enrolment) throw new Error(`${stream} was enrolled and is not there`);
    return {
      created,
      answer: {
        machine: { id: machineIdOf(stream), name: name?.value ?? null, owner: enrolment.owner },
        interval: this.terms.policy.interval,
      },
    };
  }
}

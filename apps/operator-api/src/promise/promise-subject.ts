import { Injectable } from '@nestjs/common';
import { Refusal } from '@rollcall/decider';
import { EventStore } from '@rollcall/event-store';
import { machine, machineStream, parseLabel } from '@rollcall/machine';
import { labelSelector, nodeSelector } from '@rollcall/promise-book';
import { OwnedMachines } from '../machine/owned-machines.js';

/** What a promise is about, as a person says it: one of them. */
export type SaidSubject = { readonly machine?: string; readonly label?: string };

/** Finds out which selector is meant. */
@Injectable()
export class PromiseSubject {
  constructor(
    private readonly store: EventStore,
    private readonly machines: OwnedMachines,
  ) {}

  /** @throws Refusal `invalid-body` unless one of them is said; `machine-not-found`, `name-ambiguous`. */
  async selectorOf({ machine: wanted, label }: SaidSubject, owner: string): Promise<string> {
    const said = label === undefined ? null : parseLabel(label);
    if (wanted === undefined && said !== null) return labelSelector(...said);
    if (wanted === undefined || label !== undefined)
      throw new Refusal('invalid-body', { errors: [{ field: 'machine', message: 'or label: one of them is needed' }] });
    const id = await this.machines.idOf(wanted, owner);
    const node = (await this.store.view(machine, { stream: machineStream(id) }))?.state.enrolment?.nodeId;
    if (node === undefined) throw new Refusal('machine-not-found');
    return nodeSelector(node);
  }
}

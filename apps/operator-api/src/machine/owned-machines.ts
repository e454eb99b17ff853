import { Injectable } from '@nestjs/common';
import { Refusal } from '@rollcall/decider';
import { EventStore } from '@rollcall/event-store';
import { machine, machineStream } from '@rollcall/machine';
import { MachineQueries } from '@rollcall/read-models';
import type { AsOf, MachineView } from '@rollcall/wire';

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const MOST_CANDIDATES = 10;

/** The machines of one person, by what the person calls them. Somebody else's machine does not exist here. */
@Injectable()
export class OwnedMachines {
  constructor(
    private readonly store: EventStore,
    private readonly queries: MachineQueries,
  ) {}

  /**
   * The one machine that is meant: by id, by the first eight or more characters of it, or by exact name.
   *
   * @throws Refusal `machine-not-found`, or `name-ambiguous` with at most ten candidates.
   */
  async find(wanted: string, owner: string): Promise<AsOf & { readonly machine: MachineView }> {
    const { machines, ...age } = await this.queries.find(wanted, owner);
    const [found, ...others] = machines;
    if (!found) throw new Refusal('machine-not-found');
    if (others.length > 0) {
      const candidates = machines.slice(0, MOST_CANDIDATES).map(({ id, name }) => ({ id, name }));
      throw new Refusal('name-ambiguous', { candidates });
    }
    return { ...age, machine: found };
  }

  /** The id of the one that is meant. A whole id is looked up in the record itself, so a machine that just joined is known. */
  async idOf(wanted: string, owner: string): Promise<string> {
    if (!UUID.test(wanted)) return (await this.find(wanted, owner)).machine.id;
    const view = await this.store.view(machine, { stream: machineStream(wanted) });
    if (view?.state.enrolment?.owner !== owner) throw new Refusal('machine-not-found');
    return wanted;
  }
}

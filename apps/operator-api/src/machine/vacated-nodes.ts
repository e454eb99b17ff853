import { Injectable } from '@nestjs/common';
import { Refusal } from '@rollcall/decider';
import { ClaimTaken, EventStore, part, type Actor, type Decision, type Part } from '@rollcall/event-store';
import { LogTails } from '@rollcall/log-tails';
import { machine, machineIdOf, machineStream, nodeKey, redemptionKey } from '@rollcall/machine';
import { OpenAdmissions } from './open-admissions.js';
import { OwnedMachines } from './owned-machines.js';

/** A node that has, or had, a machine. */
export type KnownNode = { readonly id: string };

/** How often somebody may be quicker, each time with another token of the node. */
const TRIES = 5;

/** The nodes of one person that are to get their next machines. */
@Injectable()
export class VacatedNodes {
  constructor(
    private readonly store: EventStore,
    private readonly machines: OwnedMachines,
    private readonly tails: LogTails,
    private readonly open: OpenAdmissions,
  ) {}

  /** The node of a machine, be that deleted or not. @throws Refusal `machine-not-found`, `name-ambiguous` */
  async nodeOf(wanted: string, owner: string): Promise<KnownNode> {
    const stream = machineStream(await this.machines.idOf(wanted, owner));
    const id = (await this.store.view(machine, { stream }))?.state.enrolment?.nodeId;
    if (id === undefined) throw new Refusal('machine-not-found');
    return { id };
  }

  /**
   * Records what admits the next machine of a node, the deletion of the one that lives, and the end of all older admissions of the node that nobody has
   * used, in one append: what is refused deletes nothing (N19). Where somebody joins by an older one in between, that one's redemption is taken, nothing
   * is recorded, and the node is looked at again.
   *
   * `replaces`: the newest machine before, which is deleted by now.
   */
  async vacateWith<State>(
    { id }: KnownNode,
    admission: Part<State>,
    options: { readonly actor: Actor; readonly commandId: string },
  ): Promise<{ readonly admission: Decision<State>; readonly replaces: string | null }> {
    for (let left = TRIES; ; left -= 1) {
      const older = await this.open.before(admission.target.stream, id, options.actor.id);
      // Looked for after them: whoever has used one by now is found here, and whoever uses one later takes its redemption.
      const newest = await this.newestOf(id);
      const deletion = part(machine, machineStream(newest), { type: 'DeleteMachine' });
      try {
        const [decided, before] = await this.store.decideTogether(
          [admission, deletion, ...older.map(({ withdrawal }) => withdrawal)],
          options,
        );
        // It lives where this is a repetition and somebody has joined by it meanwhile.
        if (!before.state.enrolment?.deleted) return { admission: decided, replaces: null };
        await this.tails.forget(newest);
        return { admission: decided, replaces: newest };
      } catch (error) {
        const wasUsed = error instanceof ClaimTaken && older.some((one) => redemptionKey(one.id) === error.key);
        if (!wasUsed) throw error;
        if (left === 1) throw new Refusal('unavailable', { retryAfter: 1 });
      }
    }
  }

  private async newestOf(node: string): Promise<string> {
    const newest = await this.store.holder(nodeKey(node));
    if (newest === null) throw new Refusal('machine-not-found');
    return machineIdOf(newest.stream);
  }
}

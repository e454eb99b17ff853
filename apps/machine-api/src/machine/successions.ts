import { Injectable } from '@nestjs/common';
import { Refusal } from '@rollcall/decider';
import { EventStore } from '@rollcall/event-store';
import { handingOn, machine, nodeKey, type Succeeded } from '@rollcall/machine';

/** What the next machine of a node is handed (N19, ADR 23). */
@Injectable()
export class Successions {
  constructor(private readonly store: EventStore) {}

  /**
   * The newest machine of a node, deleted by now. Who joins the node meanwhile takes the succession, and an admission that was decided on this fails
   * by that claim.
   *
   * @throws Refusal `token-refused` where the node has a machine that lives, because another admission was quicker; and where it is not the owner's
   */
  async to(node: string, owner: string): Promise<Succeeded> {
    const newest = await this.store.holder(nodeKey(node));
    const view = newest && (await this.store.view(machine, { stream: newest.stream }));
    const handedOn = view && handingOn(view.state);
    if (handedOn?.owner !== owner) throw new Refusal('token-refused');
    const { machineId, name, labels } = handedOn;
    return { machineId, name, labels };
  }
}

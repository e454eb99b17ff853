import { CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { Refusal } from '@rollcall/decider';
import { EventStore, part } from '@rollcall/event-store';
import { Clock } from '@rollcall/lifetimes';
import { machine, machineStream } from '@rollcall/machine';
import {
  automation,
  automationStream,
  memberships,
  membershipsStream,
  people,
  PEOPLE_STREAM,
  person,
  personStream,
  workspace,
  workspaceStream,
} from '@rollcall/person';
import { MachineQueries, ReadModelQueries } from '@rollcall/read-models';
import type { PersonView } from '@rollcall/wire';
import { AddedPeople } from '../added-people.js';
import { RemoveSomebody } from './remove-person.command.js';

/** How often and how long apart it is looked whether the list of machines has come as far as the record. Milliseconds. */
const LOOKS = 20;
const LOOK_AGAIN_MS = 100;

/**
 * Ends in one append all that somebody could sign in with, and where they were a member. What was approved in their name and not yet used admits
 * nobody any more. A machine of theirs would be nobody's to delete, so there must be none.
 */
@CommandHandler(RemoveSomebody)
export class RemovePersonHandler implements ICommandHandler<RemoveSomebody> {
  constructor(
    private readonly store: EventStore,
    private readonly people: AddedPeople,
    private readonly machines: MachineQueries,
    private readonly readModels: ReadModelQueries,
    private readonly clock: Clock,
  ) {}

  async execute({ by, commandId, personId }: RemoveSomebody): Promise<PersonView> {
    if (personId === by && (await this.people.isFirst(by))) throw new Refusal('first-person-stays');
    const { added, removed } = await this.people.addedBy(by);
    if (removed.includes(personId)) return this.removed(personId, by);
    if (!added.includes(personId)) throw new Refusal('person-not-found');
    await this.requireNoMachine(personId);
    const leave = { type: 'RemoveMember', by: personId, personId } as const;
    await this.store.decideTogether(
      [
        part(person, personStream(personId), { type: 'EndAccess' }),
        part(automation, automationStream(personId), { type: 'RevokeAutomationTokens' }),
        part(people, PEOPLE_STREAM, { type: 'RemovePerson', personId }),
        part(memberships, membershipsStream(personId), { type: 'LeaveAllWorkspaces' }),
        ...(await this.joinedBy(personId)).map((id) => part(workspace, workspaceStream(id), leave)),
      ],
      { actor: { kind: 'person', id: by }, commandId },
    );
    return this.removed(personId, by);
  }

  /** Deletes what joined while the removal was recorded: whoever let it in looked for the removal too early. */
  private async removed(personId: string, by: string): Promise<PersonView> {
    await this.waitForList();
    const { machines } = await this.machines.list({ owner: personId });
    const options = { actor: { kind: 'person', id: by } } as const;
    for (const { id } of machines)
      await this.store.decide(machine, { stream: machineStream(id) }, { type: 'DeleteMachine' }, options);
    return this.people.named(personId);
  }

  /** The workspaces of others. One of their own stays, and shows no machine any more. */
  private async joinedBy(personId: string): Promise<readonly string[]> {
    const ids = (await this.store.view(memberships, { stream: membershipsStream(personId) }))?.state.workspaces ?? [];
    const joined = await Promise.all(
      ids.map(async (id) => {
        const view = await this.store.view(workspace, { stream: workspaceStream(id) });
        return view?.state?.members.includes(personId) ? [id] : [];
      }),
    );
    return joined.flat();
  }

  /** @throws Refusal `machines-left`; `unavailable` */
  private async requireNoMachine(owner: string): Promise<void> {
    await this.waitForList();
    const { machines } = await this.machines.list({ owner, limit: 1 });
    if (machines.length > 0) throw new Refusal('machines-left');
  }

  /** A machine that joined just now counts. @throws Refusal `unavailable` while the list is older than the question */
  private async waitForList(): Promise<void> {
    const { number } = await this.store.newest();
    for (let look = 1; !(await this.isListedUntil(number)); look += 1) {
      if (look === LOOKS) throw new Refusal('unavailable', { retryAfter: 1 });
      await this.clock.sleep(LOOK_AGAIN_MS);
    }
  }

  private async isListedUntil(number: bigint): Promise<boolean> {
    const listed = (await this.readModels.status()).find(({ name }) => name === 'presence');
    return listed !== undefined && !listed.rebuilding && BigInt(listed.checkpoint) >= number;
  }
}

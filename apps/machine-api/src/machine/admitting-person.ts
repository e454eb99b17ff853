import { Refusal } from '@rollcall/decider';
import type { EventStore } from '@rollcall/event-store';
import { machine, machineStream } from '@rollcall/machine';
import { person, personStream } from '@rollcall/person';

/** Makes sure that whoever let an installation in was not removed since: then nobody could delete the machine. @throws Refusal `token-refused` */
export const requireAdmittingPerson = async (store: EventStore, personId: string): Promise<void> => {
  const view = await store.view(person, { stream: personStream(personId) });
  if (view?.state.removed) throw new Refusal('token-refused');
};

/**
 * The same once a machine is admitted: it is deleted again where its person was removed meanwhile. Whoever removes somebody looks for machines after that
 * is recorded, so whichever of the two was first, one of them sees the other.
 *
 * @throws Refusal `token-refused`
 */
export const deleteUnlessAdmitted = async (store: EventStore, personId: string, machineId: string): Promise<void> => {
  try {
    await requireAdmittingPerson(store, personId);
  } catch (error) {
    const actor = { kind: 'person', id: personId } as const;
    if (error instanceof Refusal)
      await store.decide(machine, { stream: machineStream(machineId) }, { type: 'DeleteMachine' }, { actor });
    throw error;
  }
};

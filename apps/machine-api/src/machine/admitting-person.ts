import { Refusal } from '@rollcall/decider';
import type { EventStore } from '@rollcall/event-store';
import { person, personStream } from '@rollcall/person';

/** Makes sure that whoever let an installation in was not removed since: then nobody could delete the machine. @throws Refusal `token-refused` */
export const requireAdmittingPerson = async (store: EventStore, personId: string): Promise<void> => {
  const view = await store.view(person, { stream: personStream(personId) });
  if (view?.state.removed) throw new Refusal('token-refused');
};

import { randomUUID } from 'node:crypto';
import { ClaimTaken, type EventStore } from '@rollcall/event-store';
import { FIRST_PERSON_KEY, person, personIdOf, personStream } from '@rollcall/person';

/**
 * Whoever starts a plane is its first person. Finds that person or registers them: exactly one, however many start at once, because
 * only one stream can hold the key.
 *
 * @param options.name shown beside what they do; the first name stays.
 */
export const ensureFirstPerson = async (
  store: EventStore,
  { name }: { readonly name: string },
): Promise<{ readonly personId: string }> => {
  const known = await firstPerson(store);
  if (known !== null) return { personId: known };
  const personId = randomUUID();
  try {
    await store.decide(
      person,
      { stream: personStream(personId) },
      { type: 'RegisterPerson', name, first: true },
      { actor: { kind: 'plane', id: 'start' } },
    );
    return { personId };
  } catch (cause) {
    if (!(cause instanceof ClaimTaken)) throw cause;
    const other = await firstPerson(store);
    if (other === null) throw cause;
    return { personId: other };
  }
};

const firstPerson = async (store: EventStore): Promise<string | null> => {
  const holder = await store.holder(FIRST_PERSON_KEY);
  return holder === null ? null : personIdOf(holder.stream);
};

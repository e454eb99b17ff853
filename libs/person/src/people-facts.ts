// Ledger events of the category `people`, of which there is one stream. The actor is the first person.

/** The first person let somebody use this plane. Their name is on their own stream. */
export type PersonAdded = { readonly type: 'PersonAdded'; readonly personId: string };

/** And takes that back: what the person could sign in with has ended in the same append. */
export type PersonRemoved = { readonly type: 'PersonRemoved'; readonly personId: string };

/** Everything that can happen to the people of a plane. */
export type PeopleEvent = PersonAdded | PersonRemoved;

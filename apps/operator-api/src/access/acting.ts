import type { Actor } from '@rollcall/event-store';

/** Somebody who acts: whose things they see, and who is recorded. A person's own id is both; automation acts for the person who let it. */
export type Acting = {
  /** The id of a person. */
  readonly owner: string;
  readonly actor: Actor;
};

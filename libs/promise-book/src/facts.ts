// Ledger events of the category `promises`, one stream per person. The actor of each is that person.

/** A person promises that machines are there: a node by its id, or all that have a label (N11). The newest word about a selector counts. */
export type PromiseMade = {
  readonly type: 'PromiseMade';
  /** `node:<id of a node>` or `label:<key>=<value>` */
  readonly selector: string;
  /** As `libs/promises` writes it, such as `weekdays 09:00-18:00 Europe/Berlin`. */
  readonly schedule: string;
};
/** Nothing is promised for the selector any more. */
export type PromiseWithdrawn = { readonly type: 'PromiseWithdrawn'; readonly selector: string };

/** Everything that can happen to a person's promises. */
export type PromiseEvent = PromiseMade | PromiseWithdrawn;

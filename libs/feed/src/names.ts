/** Where batches travel: for the plane's own read models, short-lived. */
export const BATCH_SUBJECT = 'rollcall.batch';

/** Where ledger events travel: `rollcall.<category>.<Type>.<id>`. */
export const EVENT_SUBJECTS = 'rollcall.*.*.*';

/** The two streams. They are apart so that check-ins never evict ledger events. */
export const BATCH_STREAM = 'ROLLCALL_BATCHES';
export const EVENT_STREAM = 'ROLLCALL';

/** A batch by its name: which record, and which place in it. */
export type FeedPlace = {
  /** UUID. */
  readonly epoch: string;
  readonly number: bigint;
};

/** A ledger event by its name: which record, and its position among all of its ledger events. */
export type EventPlace = {
  /** UUID. */
  readonly epoch: string;
  readonly position: bigint;
};

/** The subject of a ledger event: `rollcall.machine.MachineRenamed.0192…` for one of the stream `machine-0192…`. */
export const eventSubject = (stream: string, type: string): string => {
  const dash = stream.indexOf('-');
  const [category, id] = dash < 0 ? [stream, '_'] : [stream.slice(0, dash), stream.slice(dash + 1)];
  return ['rollcall', category, type, id].map(token).join('.');
};

// What a subject's token may hold; dots, spaces and wildcards mean something else there.
const token = (text: string): string => text.replaceAll(/[^A-Za-z0-9_-]/g, '_') || '_';

/** The id by which a server recognises a batch that it has already stored. */
export const batchMessageId = ({ epoch, number }: FeedPlace): string => `${epoch}-${number}`;

/** The id by which a server recognises a ledger event that it has already stored. */
export const eventMessageId = ({ epoch, position }: EventPlace): string => `${epoch}-${position}`;

/** Reads the id of a batch; null where it is none. */
export const placeOfMessageId = (id: string): FeedPlace | null => {
  const dash = id.lastIndexOf('-');
  const number = id.slice(dash + 1);
  return dash > 0 && /^\d{1,19}$/.test(number) ? { epoch: id.slice(0, dash), number: BigInt(number) } : null;
};

/** Reads the id of a ledger event; null where it is none. */
export const placeOfEventId = (id: string): EventPlace | null => {
  const place = placeOfMessageId(id);
  return place && { epoch: place.epoch, position: place.number };
};

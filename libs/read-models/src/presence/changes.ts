import type { EventStore } from '@rollcall/event-store';
import type { AsOf, PresenceChange, PresenceSnapshot } from '@rollcall/wire';
import { sql, type Transaction } from 'kysely';
import type { ReadModelDatabase } from '../database.js';
import { asOf, inSnapshot, type Heard } from '../snapshot.js';
import type { ReadModelTables } from '../tables.js';
import type { ChangePlace } from './change-place.js';
import { isStillTold } from './project-changes.js';
import { countsOf } from './queries.js';
import { decodeChange, presenceModel } from './store.js';
import { machineView } from './view.js';

/** What there is to tell from a place on. */
export type ChangeNews =
  | {
      readonly kind: 'changes';
      readonly changes: readonly { readonly place: ChangePlace; readonly change: PresenceChange }[];
      /** After all of these, and after what is nobody's of them. */
      readonly place: ChangePlace;
      /** There is more at once. */
      readonly more: boolean;
      readonly heard: AsOf;
    }
  /** Nothing can be told from that place on: this is how things stand now. */
  | { readonly kind: 'snapshot'; readonly place: ChangePlace; readonly snapshot: PresenceSnapshot }
  /** Being made anew, and not there yet. */
  | { readonly kind: 'nothing-yet' };

/** The most changes in one answer. */
const AT_ONCE = 100;
/** Beyond so many it is cheaper to ask for how things stand. */
const MOST_REPLAYED = 10_000;

/** What happens to the machines of one person, change by change. */
export class ChangeQueries {
  constructor(
    private readonly database: ReadModelDatabase,
    private readonly store: Pick<EventStore, 'newest'>,
  ) {}

  /**
   * What to tell somebody who was told everything up to a place: the changes since, each once and in order, whichever instance is asked and
   * whatever was rebuilt meanwhile. A place of another record, ahead of this one or longer ago than changes are kept for is answered with how
   * things stand.
   *
   * @param place null: nothing was told
   * @param isReturning whether the place is one that a client has come back with; then it is also too much if there is a lot to tell
   */
  async next(owner: string, place: ChangePlace | null, isReturning = false): Promise<ChangeNews> {
    const newest = await this.store.newest();
    return inSnapshot(this.database, 'presence_change', presenceModel.name, async (transaction, heard) => {
      const age = asOf(heard, newest);
      if (place !== null && canGoOn(place, heard)) {
        const isTooMuch =
          isReturning && (await countUpTo(transaction, owner, place, MOST_REPLAYED + 1)) > MOST_REPLAYED;
        if (!isTooMuch) return changesSince(transaction, owner, { place, heard, age });
      }
      const { epoch, checkpoint: batch, until: at, rebuilding } = heard;
      // A place in the middle of a rebuild would be followed by the past.
      if (epoch === null || at === null || rebuilding) return { kind: 'nothing-yet' };
      const counts = await countsOf(transaction, { owner }, heard);
      return { kind: 'snapshot', place: { epoch, batch, at, machine: null }, snapshot: { ...age, ...counts } };
    });
  }
}

/** While it is being made anew the read model is behind a place that it had reached; else nobody can have been ahead of it. */
const canGoOn = (place: ChangePlace, heard: Heard): boolean =>
  place.epoch === heard.epoch &&
  (place.batch <= heard.checkpoint || heard.rebuilding) &&
  (heard.until === null || isStillTold(place, heard.until));

const since = (transaction: Transaction<ReadModelTables>, owner: string, { batch, machine }: ChangePlace) =>
  transaction
    .selectFrom('presence_change')
    .where('owner', '=', owner)
    .where(
      machine === null
        ? sql<boolean>`batch > ${batch.toString()}`
        : sql<boolean>`(batch, machine) > (${batch.toString()}::bigint, ${machine})`,
    );

const countUpTo = async (
  transaction: Transaction<ReadModelTables>,
  owner: string,
  place: ChangePlace,
  most: number,
): Promise<number> => {
  const { counted } = await transaction
    .selectFrom(since(transaction, owner, place).select('batch').limit(most).as('some'))
    .select(({ fn }) => fn.countAll<string>().as('counted'))
    .executeTakeFirstOrThrow();
  return Number(counted);
};

const changesSince = async (
  transaction: Transaction<ReadModelTables>,
  owner: string,
  { place, heard, age }: { readonly place: ChangePlace; readonly heard: Heard; readonly age: AsOf },
): Promise<ChangeNews> => {
  const rows = await since(transaction, owner, place)
    .selectAll()
    .orderBy('batch')
    .orderBy('machine')
    .limit(AT_ONCE + 1)
    .execute();
  const { epoch } = place;
  const changes = rows
    .slice(0, AT_ONCE)
    .map(decodeChange)
    .map(({ batch, at, machine, shown }) => ({
      place: { epoch, batch, at, machine },
      // Presence as the facts have it: whoever is not recorded as absent is present, as if the plane had begun to listen at that moment.
      change: { asOf: new Date(at).toISOString(), machine: machineView(shown, { until: at, gapEnd: at }) },
    }));
  const more = rows.length > AT_ONCE;
  return { kind: 'changes', changes, more, heard: age, place: more ? changes.at(-1)!.place : farthest(place, heard) };
};

/** Everything up to the checkpoint was told, but a read model that is being made anew may not have come to the place again. */
const farthest = (place: ChangePlace, { checkpoint, until }: Heard): ChangePlace =>
  until !== null && checkpoint >= place.batch
    ? { epoch: place.epoch, batch: checkpoint, at: until, machine: null }
    : place;

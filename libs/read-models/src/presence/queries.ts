import type { EventStore } from '@rollcall/event-store';
import { isBlocked } from '@rollcall/machine';
import type { AsOf, MachineView, PresenceWord } from '@rollcall/wire';
import { sql, type SelectQueryBuilder } from 'kysely';
import type { ReadModelDatabase } from '../database.js';
import { asOf, inSnapshot } from '../snapshot.js';
import type { ReadModelTables } from '../tables.js';
import { presenceModel, decodePresence } from './store.js';
import { machineView } from './view.js';

/** Which machines, and from where on. */
export type ListMachines = {
  /** 1 to 500. (Default: 100) */
  readonly limit?: number;
  /** The `next` of the page before. */
  readonly after?: string | null;
  /** (Default: false) */
  readonly includeDeleted?: boolean;
  readonly presence?: PresenceWord;
  /** Only those on which this blocker stands, present or not. */
  readonly blocker?: string;
  /** Only those that are present, but cannot take work (O32). (Default: false) */
  readonly blocked?: boolean;
  /** A part of the name or of the hostname, in any case. */
  readonly name?: string;
  /** Only the machines of this person. (Default: everybody's) */
  readonly owner?: string;
};

/** The most machines in one answer. */
export const LIST_LIMIT = 500;

// Presence is a rule over the row and what was heard since, so it is applied to rows and not written twice, once more in SQL.
const SCAN = 2_000;

/** What people and automation ask about machines. */
export class MachineQueries {
  constructor(
    private readonly database: ReadModelDatabase,
    private readonly store: Pick<EventStore, 'newest'>,
  ) {}

  /** A page of machines by id. `next` is null on the last one. */
  async list(query: ListMachines = {}): Promise<AsOf & { machines: readonly MachineView[]; next: string | null }> {
    const limit = Math.min(Math.max(query.limit ?? 100, 1), LIST_LIMIT);
    const newest = await this.store.newest();
    return inSnapshot(this.database, 'presence_machine', presenceModel.name, async (transaction, heard) => {
      const found: MachineView[] = [];
      const size = query.presence === undefined && query.blocked !== true ? limit + 1 : SCAN;
      let after = query.after ?? null;
      for (;;) {
        const rows = await filtered(transaction.selectFrom('presence_machine'), query, after)
          .selectAll()
          .orderBy('machine')
          .limit(size)
          .execute();
        for (const row of rows) {
          const view = machineView(decodePresence(row), heard);
          if (isWanted(view, query)) found.push(view);
        }
        if (found.length > limit || rows.length < size) break;
        after = rows.at(-1)!.machine;
      }
      const machines = found.slice(0, limit);
      return { ...asOf(heard, newest), machines, next: found.length > limit ? machines.at(-1)!.id : null };
    });
  }

  /**
   * The machines that somebody can mean: by id, by a prefix of at least eight characters, or by exact name. Machines that were
   * deleted are answered only where no other is meant. Several are for the asker to choose from; at most 20.
   *
   * @param owner only the machines of this person (Default: everybody's)
   */
  async find(wanted: string, owner?: string): Promise<AsOf & { machines: readonly MachineView[] }> {
    const newest = await this.store.newest();
    return inSnapshot(this.database, 'presence_machine', presenceModel.name, async (transaction, heard) => {
      const rows = await transaction
        .selectFrom('presence_machine')
        .selectAll()
        .where((where) =>
          where.or([
            where('machine', '=', wanted),
            where('name', '=', wanted),
            ...(wanted.length >= 8 ? [where('machine', '^@', wanted)] : []),
          ]),
        )
        .where((where) => (owner === undefined ? where.val(true) : where('owner', '=', owner)))
        .orderBy(sql`machine = ${wanted} desc, deleted_at is not null, machine`)
        .limit(20)
        .execute();
      const views = rows.map((row) => machineView(decodePresence(row), heard));
      const exact = views.filter((view) => view.id === wanted);
      const living = views.filter((view) => view.deletedAt === null);
      const machines = exact.length > 0 ? exact : living.length > 0 ? living : views;
      return { ...asOf(heard, newest), machines };
    });
  }
}

const isWanted = (view: MachineView, { presence, blocked }: ListMachines): boolean =>
  (presence === undefined || view.presence === presence) &&
  (blocked !== true || isBlocked({ ...view, blockers: view.blockers.map(({ code }) => code) }));

const filtered = (
  select: SelectQueryBuilder<ReadModelTables, 'presence_machine', object>,
  query: ListMachines,
  after: string | null,
): SelectQueryBuilder<ReadModelTables, 'presence_machine', object> => {
  let narrowed = select;
  if (after !== null) narrowed = narrowed.where('machine', '>', after);
  if (query.owner !== undefined) narrowed = narrowed.where('owner', '=', query.owner);
  if (query.includeDeleted !== true) narrowed = narrowed.where('deleted_at', 'is', null);
  if (query.blocker !== undefined)
    narrowed = narrowed.where(sql<boolean>`blockers @> ${JSON.stringify([{ code: query.blocker }])}::jsonb`);
  if (query.blocked === true) narrowed = narrowed.where(sql<boolean>`blockers <> '[]'::jsonb`);
  if (query.name !== undefined) {
    const part = query.name.toLowerCase();
    narrowed = narrowed.where(
      sql<boolean>`strpos(lower(coalesce(name, '')), ${part}) > 0 or strpos(lower(coalesce(hostname, '')), ${part}) > 0`,
    );
  }
  return narrowed;
};

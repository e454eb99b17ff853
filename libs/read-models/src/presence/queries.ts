import type { EventStore } from '@rollcall/event-store';
import { PAUSED } from '@rollcall/machine';
import type { AsOf, MachineView, PresenceAnswer, PresenceCounts } from '@rollcall/wire';
import { sql, type SelectQueryBuilder, type Transaction } from 'kysely';
import type { ReadModelDatabase } from '../database.js';
import { asOf, inSnapshot, type Heard } from '../snapshot.js';
import type { ReadModelTables } from '../tables.js';
import { conditionOf, isWanted, type Wanted } from './condition.js';
import { countMachines, type Alike } from './counts.js';
import type { PresenceRow } from './project.js';
import { sieveOf } from './sieve.js';
import { presenceModel, decodePresence } from './store.js';
import { machineView } from './view.js';

/** Which machines. */
export type WhichMachines = Wanted & {
  /** (Default: false) */
  readonly includeDeleted?: boolean;
  /** A part of the name or of the hostname, in any case. */
  readonly name?: string;
  /** With this label, whatever its value (null) or with this one. */
  readonly label?: { readonly key: string; readonly value: string | null };
  /** Only the machines of this person. (Default: everybody's) */
  readonly owner?: string;
};

/** The same, and from where on. */
export type ListMachines = WhichMachines & {
  /** 1 to 500. (Default: 100) */
  readonly limit?: number;
  /** The `next` of the page before. */
  readonly after?: string | null;
};

/** The most machines in one answer. */
export const LIST_LIMIT = 500;

/** The most rows that are in memory at a time. */
const SCAN = 2_000;

/** What people and automation ask about machines. */
export class MachineQueries {
  constructor(
    private readonly database: ReadModelDatabase,
    private readonly store: Pick<EventStore, 'newest'>,
  ) {}

  /** A page of machines by id. `next` is null on the last one. */
  async list(query: ListMachines = {}): Promise<AsOf & { machines: readonly MachineView[]; next: string | null }> {
    const newest = await this.store.newest();
    return inSnapshot(this.database, 'presence_machine', presenceModel.name, async (transaction, heard) => ({
      ...asOf(heard, newest),
      ...(await pageOf(transaction, query, heard)),
    }));
  }

  /** How many machines are what; with a page of them, of the same moment, where `limit` asks for one. */
  async count(query: ListMachines = {}): Promise<PresenceAnswer> {
    const newest = await this.store.newest();
    return inSnapshot(this.database, 'presence_machine', presenceModel.name, async (transaction, heard) => ({
      ...asOf(heard, newest),
      ...(await countsOf(transaction, query, heard)),
      page: query.limit === undefined ? null : await pageOf(transaction, query, heard),
    }));
  }

  /** The machines of these nodes that live, by node. */
  async ofNodes(
    nodes: readonly string[],
    owner: string,
  ): Promise<ReadonlyMap<string, Pick<MachineView, 'id' | 'name'>>> {
    if (nodes.length === 0) return new Map();
    const rows = await this.database
      .selectFrom('presence_machine')
      .select(['node', 'machine', 'name'])
      .where('node', '=', sql<string>`any(${nodes})`)
      .where('owner', '=', owner)
      .where('deleted_at', 'is', null)
      .execute();
    return new Map(rows.map(({ node, machine: id, name }) => [node, { id, name }]));
  }

  /**
   * The machines that somebody can mean: by id, by a prefix of at least eight characters, or by exact name. Machines that were
   * deleted are answered only where no other is meant, and of those of one node only the newest. Several are for the asker to choose from; at most 20.
   *
   * @param owner only the machines of this person (Default: everybody's)
   */
  async find(wanted: string, owner?: string): Promise<AsOf & { machines: readonly MachineView[] }> {
    const last = await this.store.newest();
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
      // Ids begin with a time, so the last one of a node is its newest.
      const newest = [...new Map(rows.map((row, index) => [row.node, views[index] as MachineView])).values()];
      const machines = exact.length > 0 ? exact : living.length > 0 ? living : newest;
      return { ...asOf(heard, last), machines };
    });
  }
}

const pageOf = async (
  transaction: Transaction<ReadModelTables>,
  query: ListMachines,
  heard: Heard,
): Promise<{ machines: readonly MachineView[]; next: string | null }> => {
  const limit = Math.min(Math.max(query.limit ?? 100, 1), LIST_LIMIT);
  const found: MachineView[] = [];
  let after = query.after ?? null;
  // The sieve lets little through that the rule leaves out; where it was more than that, ever more is read at once.
  for (let size = limit + 1; ; size = Math.min(2 * size, SCAN)) {
    const rows = await filtered(transaction.selectFrom('presence_machine'), query, { heard, after })
      .selectAll()
      .orderBy('machine')
      .limit(size)
      .execute();
    for (const row of rows.map(decodePresence)) {
      if (isWanted(conditionOf(row, heard), query)) found.push(machineView(row, heard));
    }
    if (found.length > limit || rows.length < size) break;
    after = rows.at(-1)!.machine;
  }
  const machines = found.slice(0, limit);
  return { machines, next: found.length > limit ? machines.at(-1)!.id : null };
};

/**
 * Counts without reading a row per machine: those that are alike come as one, with the times of their last checks. That is all that differs,
 * and what the rule of presence is asked about.
 */
export const countsOf = async (
  transaction: Transaction<ReadModelTables>,
  query: WhichMachines,
  heard: Heard,
): Promise<PresenceCounts> => {
  const groups = await filtered(transaction.selectFrom('presence_machine'), query, { heard, after: null })
    .select([
      'window_seconds as window',
      'said',
      'pause',
      sql<boolean>`absent_since is not null`.as('absent'),
      sql<boolean>`deleted_at is not null`.as('deleted'),
      sql<readonly string[]>`jsonb_path_query_array(blockers, '$[*].code')`.as('codes'),
      // Milliseconds in one text: as an array or as times, the driver's reading of them would be most of what a count costs.
      sql<string>`string_agg(coalesce(round(date_part('epoch', last_check_at) * 1000)::int8::text, ''), ',')`.as(
        'last_checks',
      ),
    ])
    .groupBy(['window', 'said', 'pause', 'absent', 'deleted', 'codes'])
    .execute();
  return countMachines(
    groups.map(({ window, said, pause, absent, deleted, codes, last_checks }): Alike => ({
      window,
      said: said as PresenceRow['said'],
      pause,
      blockers: codes.map((code) => ({ code, since: 0 })),
      absentSince: absent ? 0 : null,
      deletedAt: deleted ? 0 : null,
      admittedAt: 0,
      stopReason: null,
      lastCheckAts: last_checks.split(',').map((time) => (time === '' ? null : Number(time))),
    })),
    heard,
    query,
  );
};

const filtered = (
  select: SelectQueryBuilder<ReadModelTables, 'presence_machine', object>,
  query: WhichMachines,
  { heard, after }: { readonly heard: Heard; readonly after: string | null },
): SelectQueryBuilder<ReadModelTables, 'presence_machine', object> => {
  let narrowed = select;
  for (const condition of sieveOf(query, heard)) narrowed = narrowed.where(condition);
  if (after !== null) narrowed = narrowed.where('machine', '>', after);
  if (query.owner !== undefined) narrowed = narrowed.where('owner', '=', query.owner);
  if (query.includeDeleted !== true) narrowed = narrowed.where('deleted_at', 'is', null);
  // No more than a sieve: what stands, and whether it blocks, is the rule's to say.
  if (query.blocker !== undefined)
    narrowed = narrowed.where((where) =>
      where.or([
        sql<boolean>`blockers @> ${JSON.stringify([{ code: query.blocker }])}::jsonb`,
        ...(query.blocker === PAUSED ? [where('pause', 'is not', null)] : []),
      ]),
    );
  if (query.blocked === true) narrowed = narrowed.where(sql<boolean>`(blockers <> '[]'::jsonb or pause is not null)`);
  if (query.label !== undefined) {
    const { key, value } = query.label;
    narrowed = narrowed.where(
      value === null
        ? sql<boolean>`labels ? ${key}`
        : sql<boolean>`labels @> ${JSON.stringify({ [key]: value })}::jsonb`,
    );
  }
  if (query.name !== undefined) {
    const part = query.name.toLowerCase();
    narrowed = narrowed.where(
      sql<boolean>`(strpos(lower(coalesce(name, '')), ${part}) > 0 or strpos(lower(coalesce(hostname, '')), ${part}) > 0)`,
    );
  }
  return narrowed;
};

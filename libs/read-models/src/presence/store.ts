import type { RecordedFact } from '@rollcall/event-store';
import { sql, type Selectable, type Transaction } from 'kysely';
import { rowsOf } from '../database.js';
import type { ReadModel } from '../model.js';
import { StagedRows } from '../rows.js';
import type { ReadModelTables } from '../tables.js';
import { machineOf, type Parked } from '../understand.js';
import { changeKey, projectWithChanges, TOLD_FOR_MS, type ChangeRow } from './project-changes.js';
import type { PresenceRow } from './project.js';

/** The read model `presence`: one row per machine, and what happened to machines of late. */
export const presenceModel: ReadModel = {
  name: 'presence',

  async apply(transaction, facts) {
    const machines = new Set(facts.map(machineOf).filter((machine) => machine !== null));
    if (machines.size === 0) return [];
    const loaded = await transaction
      .selectFrom('presence_machine')
      .selectAll()
      .where('machine', '=', sql<string>`any(${[...machines]})`)
      .execute();
    const rows = new StagedRows(loaded.map((row) => [row.machine, decodePresence(row)]));
    const changes = new StagedRows(await changesBefore(transaction, facts));
    const parked = facts.map((fact) => projectWithChanges(rows, changes, fact)).filter((fact) => fact !== null);
    const changed = rows.changed();
    if (changed.length > 0) {
      await transaction
        .insertInto('presence_machine')
        .columns(COLUMNS)
        .expression(rowsOf('presence_machine', COLUMNS, changed.map(encode)))
        .onConflict((conflict) =>
          conflict
            .column('machine')
            .doUpdateSet(({ ref }) => Object.fromEntries(COLUMNS.map((column) => [column, ref(`excluded.${column}`)]))),
        )
        .execute();
    }
    await keepChanges(transaction, changes.changed());
    return parked satisfies readonly Parked[];
  },

  async clear(transaction) {
    // In the order in which readers take their locks.
    await sql`truncate presence_change, presence_machine`.execute(transaction);
  },
};

/** What the earlier facts of the same batch left, where a batch comes fact by fact, because one of its facts cannot be stored. */
const changesBefore = async (
  transaction: Transaction<ReadModelTables>,
  facts: readonly RecordedFact[],
): Promise<readonly (readonly [string, ChangeRow])[]> => {
  const [only, ...others] = facts;
  const machine = only && machineOf(only);
  if (!only || !machine || others.length > 0) return [];
  const rows = await transaction
    .selectFrom('presence_change')
    .selectAll()
    .where('batch', '=', only.batch.toString())
    .where('machine', '=', machine)
    .where('owner', '=', ({ selectFrom }) =>
      selectFrom('presence_machine').select('owner').where('machine', '=', machine),
    )
    .execute();
  return rows.map(decodeChange).map((change) => [changeKey(change), change]);
};

/** Beyond what is told, so that a reader whose place is still told never misses one that went. */
const KEPT_FOR_MS = TOLD_FOR_MS + 3_600_000;

const keepChanges = async (transaction: Transaction<ReadModelTables>, changes: readonly ChangeRow[]): Promise<void> => {
  const newest = changes.at(-1);
  if (newest === undefined) return;
  await transaction
    .insertInto('presence_change')
    .columns(CHANGE)
    .expression(rowsOf('presence_change', CHANGE, changes.map(encodeChange)))
    .onConflict((conflict) =>
      conflict.columns(['owner', 'batch', 'machine']).doUpdateSet(({ ref }) => ({ shown: ref('excluded.shown') })),
    )
    .execute();
  await transaction
    .deleteFrom('presence_change')
    .where('at', '<', new Date(newest.at - KEPT_FOR_MS))
    .execute();
};

const CHANGE = ['owner', 'batch', 'machine', 'at', 'shown'] as const satisfies readonly (keyof ChangeColumns)[];
type ChangeColumns = ReadModelTables['presence_change'];

const encodeChange = (change: ChangeRow): { readonly [Column in keyof ChangeColumns]: unknown } => ({
  owner: change.owner,
  batch: change.batch.toString(),
  machine: change.machine,
  at: time(change.at),
  shown: change.shown,
});

/** A row of `presence_change` as the projection knows it. */
export const decodeChange = (row: Selectable<ChangeColumns>): ChangeRow => ({
  owner: row.owner,
  batch: BigInt(row.batch),
  machine: row.machine,
  at: row.at.getTime(),
  shown: row.shown,
});

type Columns = ReadModelTables['presence_machine'];

const COLUMNS = [
  'machine',
  'node',
  'owner',
  'name',
  'hostname',
  'agent_version',
  'platform',
  'arch',
  'generation',
  'admitted_at',
  'last_check_at',
  'window_seconds',
  'said',
  'stop_reason',
  'blockers',
  'log_tail_requested',
  'rotation_requested',
  'pending_generation',
  'refused_claims',
  'absent_since',
  'pause',
  'labels',
  'deleted_at',
  'revision',
] as const satisfies readonly (keyof Columns)[];

const time = (instant: number | null): string | null => (instant === null ? null : new Date(instant).toISOString());

const encode = (row: PresenceRow): { readonly [Column in keyof Columns]: unknown } => ({
  machine: row.machine,
  node: row.node,
  owner: row.owner,
  name: row.name,
  hostname: row.hostname,
  agent_version: row.agentVersion,
  platform: row.platform,
  arch: row.arch,
  generation: row.generation,
  admitted_at: time(row.admittedAt),
  last_check_at: time(row.lastCheckAt),
  window_seconds: row.window,
  said: row.said,
  stop_reason: row.stopReason,
  blockers: row.blockers,
  log_tail_requested: time(row.logTailRequested),
  rotation_requested: row.rotationRequested,
  pending_generation: row.pendingGeneration,
  refused_claims: row.refusedClaims,
  absent_since: time(row.absentSince),
  pause: row.pause,
  labels: row.labels,
  deleted_at: time(row.deletedAt),
  revision: row.revision,
});

/** A row of `presence_machine` as the projection knows it. */
export const decodePresence = (row: Selectable<Columns>): PresenceRow => ({
  machine: row.machine,
  node: row.node,
  owner: row.owner,
  name: row.name,
  hostname: row.hostname,
  agentVersion: row.agent_version,
  platform: row.platform,
  arch: row.arch,
  generation: row.generation,
  admittedAt: row.admitted_at.getTime(),
  lastCheckAt: row.last_check_at?.getTime() ?? null,
  window: row.window_seconds,
  said: row.said as PresenceRow['said'],
  stopReason: row.stop_reason as PresenceRow['stopReason'],
  blockers: row.blockers.map(({ code, since }) => ({ code, since })),
  logTailRequested: row.log_tail_requested?.getTime() ?? null,
  rotationRequested: row.rotation_requested,
  pendingGeneration: row.pending_generation,
  refusedClaims: row.refused_claims,
  absentSince: row.absent_since?.getTime() ?? null,
  pause: row.pause,
  labels: row.labels,
  deletedAt: row.deleted_at?.getTime() ?? null,
  revision: Number(row.revision),
});

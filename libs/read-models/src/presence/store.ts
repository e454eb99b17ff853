import { sql, type Selectable } from 'kysely';
import { rowsOf } from '../database.js';
import type { ReadModel } from '../model.js';
import { StagedRows } from '../rows.js';
import type { ReadModelTables } from '../tables.js';
import { machineOf, type Parked } from '../understand.js';
import { project, type PresenceRow } from './project.js';

/** The read model `presence`: one row per machine. */
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
    const parked = facts.map((fact) => project(rows, fact)).filter((fact) => fact !== null);
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
    return parked satisfies readonly Parked[];
  },

  async clear(transaction) {
    await sql`truncate presence_machine`.execute(transaction);
  },
};

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
  absentSince: row.absent_since?.getTime() ?? null,
  pause: row.pause,
  labels: row.labels,
  deletedAt: row.deleted_at?.getTime() ?? null,
  revision: Number(row.revision),
});

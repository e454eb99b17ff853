import { sql, type Selectable } from 'kysely';
import { rowsOf } from '../database.js';
import type { ReadModel } from '../model.js';
import { StagedRows } from '../rows.js';
import type { ReadModelTables } from '../tables.js';
import { machineOf } from '../understand.js';
import { project, type Episode, type ReadinessMachine } from './project.js';

/** The read model `readiness`: one row per time in which a blocker stood. */
export const readinessModel: ReadModel = {
  name: 'readiness',

  async apply(transaction, facts) {
    const events = facts.filter(({ kind }) => kind === 'event');
    const touched = new Set(events.map(machineOf).filter((machine) => machine !== null));
    if (touched.size === 0) return [];
    const ofTouched = sql<string>`any(${[...touched]})`;
    const loaded = await transaction
      .selectFrom('readiness_machine')
      .selectAll()
      .where('machine', '=', ofTouched)
      .execute();
    const standing = await transaction
      .selectFrom('readiness_episode')
      .selectAll()
      .where('machine', '=', ofTouched)
      .where('until_at', 'is', null)
      .execute();
    const rows = {
      machines: new StagedRows(loaded.map((row) => [row.machine, decodeReadinessMachine(row)])),
      standing: new StagedRows(Map.groupBy(standing.map(decodeEpisode), ({ machine }) => machine)),
      episodes: new StagedRows<Episode>(),
    };
    const parked = events.map((fact) => project(rows, fact)).filter((fact) => fact !== null);
    const [machines, episodes] = [rows.machines.changed(), rows.episodes.changed()];
    if (machines.length > 0) {
      await transaction
        .insertInto('readiness_machine')
        .columns(MACHINE)
        .expression(rowsOf('readiness_machine', MACHINE, machines.map(encodeMachine)))
        .onConflict((conflict) =>
          conflict.column('machine').doUpdateSet(({ ref }) => ({ deleted_at: ref('excluded.deleted_at') })),
        )
        .execute();
    }
    if (episodes.length > 0) {
      await transaction
        .insertInto('readiness_episode')
        .columns(EPISODE)
        .expression(rowsOf('readiness_episode', EPISODE, episodes.map(encodeEpisode)))
        .onConflict((conflict) =>
          conflict
            .columns(['machine', 'since_revision', 'code'])
            .doUpdateSet(({ ref }) => ({ until_at: ref('excluded.until_at'), expires_at: ref('excluded.expires_at') })),
        )
        .execute();
    }
    return parked;
  },

  async clear(transaction) {
    await sql`truncate readiness_episode, readiness_machine`.execute(transaction);
  },
};

type MachineColumns = ReadModelTables['readiness_machine'];
type EpisodeColumns = ReadModelTables['readiness_episode'];

const MACHINE = ['machine', 'owner', 'deleted_at'] as const satisfies readonly (keyof MachineColumns)[];
const EPISODE = [
  'machine',
  'since_revision',
  'code',
  'since_at',
  'until_at',
  'expires_at',
] as const satisfies readonly (keyof EpisodeColumns)[];

const time = (instant: number | null): string | null => (instant === null ? null : new Date(instant).toISOString());

const encodeMachine = (row: ReadinessMachine): { readonly [Column in keyof MachineColumns]: unknown } => ({
  machine: row.machine,
  owner: row.owner,
  deleted_at: time(row.deletedAt),
});

const encodeEpisode = (episode: Episode): { readonly [Column in keyof EpisodeColumns]: unknown } => ({
  machine: episode.machine,
  since_revision: episode.sinceRevision,
  code: episode.code,
  since_at: time(episode.since),
  until_at: time(episode.until),
  expires_at: time(episode.expiresAt),
});

/** A row of `readiness_machine` as the projection knows it. */
export const decodeReadinessMachine = (row: Selectable<MachineColumns>): ReadinessMachine => ({
  machine: row.machine,
  owner: row.owner,
  deletedAt: row.deleted_at?.getTime() ?? null,
});

/** A row of `readiness_episode` as the projection knows it. */
export const decodeEpisode = (row: Selectable<EpisodeColumns>): Episode => ({
  machine: row.machine,
  code: row.code,
  sinceRevision: Number(row.since_revision),
  since: row.since_at.getTime(),
  until: row.until_at?.getTime() ?? null,
  expiresAt: row.expires_at?.getTime() ?? null,
});

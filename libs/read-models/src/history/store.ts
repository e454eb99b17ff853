import { sql, type Selectable } from 'kysely';
import { rowsOf } from '../database.js';
import type { ReadModel } from '../model.js';
import type { Rows } from '../rows.js';
import type { ReadModelTables } from '../tables.js';
import { machineOf } from '../understand.js';
import { project, type ChecksLine, type EventLine, type HistoryLine } from './project.js';

/** The read model `history`: one row per ledger event of a machine, and one per run of its check-ins. */
export const historyModel: ReadModel = {
  name: 'history',

  async apply(transaction, facts) {
    const machines = new Set(facts.map(machineOf).filter((machine) => machine !== null));
    if (machines.size === 0) return [];
    const loaded = await sql<Selectable<Columns>>`
      select newest.* from unnest(${[...machines]}::text[]) as touched (machine)
      cross join lateral (
        select * from history_line line where line.machine = touched.machine collate "C" order by revision desc limit 1
      ) newest`.execute(transaction);
    const lines = new StagedLines(loaded.rows.map(decodeLine));
    const parked = facts.map((fact) => project(lines, fact)).filter((fact) => fact !== null);
    const changed = lines.changed();
    if (changed.length > 0) {
      await transaction
        .insertInto('history_line')
        .columns(COLUMNS)
        .expression(rowsOf('history_line', COLUMNS, changed.map(encode)))
        // Only a run of checks is ever written twice: it grew.
        .onConflict((conflict) =>
          conflict
            .columns(['machine', 'revision'])
            .doUpdateSet(({ ref }) => Object.fromEntries(GROWING.map((column) => [column, ref(`excluded.${column}`)]))),
        )
        .execute();
    }
    return parked;
  },

  async clear(transaction) {
    await sql`truncate history_line`.execute(transaction);
  },
};

/** The newest line per machine, and every line that was put. */
class StagedLines implements Rows<HistoryLine> {
  readonly #newest: Map<string, HistoryLine>;
  readonly #changed = new Map<string, HistoryLine>();

  constructor(loaded: readonly HistoryLine[]) {
    this.#newest = new Map(loaded.map((line) => [line.machine, line]));
  }

  get(machine: string): HistoryLine | undefined {
    return this.#newest.get(machine);
  }

  put(machine: string, line: HistoryLine): void {
    this.#newest.set(machine, line);
    this.#changed.set(`${line.revision}/${machine}`, line);
  }

  changed(): readonly HistoryLine[] {
    return [...this.#changed.values()];
  }
}

type Columns = ReadModelTables['history_line'];

const COLUMNS = [
  'machine',
  'revision',
  'kind',
  'at',
  'type',
  'actor_kind',
  'actor_id',
  'body',
  'last_revision',
  'last_at',
  'checks',
  'said',
  'window_seconds',
] as const satisfies readonly (keyof Columns)[];

const GROWING = ['last_revision', 'last_at', 'checks', 'window_seconds'] as const satisfies readonly (keyof Columns)[];

const time = (instant: number): string => new Date(instant).toISOString();

const encode = (line: HistoryLine): { readonly [Column in keyof Columns]: unknown } => {
  const event: Partial<EventLine> = line.kind === 'event' ? line : {};
  const run: Partial<ChecksLine> = line.kind === 'checks' ? line : {};
  return {
    machine: line.machine,
    revision: line.revision,
    kind: line.kind,
    at: time(line.at),
    type: event.type ?? null,
    actor_kind: event.actor?.kind ?? null,
    actor_id: event.actor?.id ?? null,
    body: event.body ?? null,
    last_revision: run.lastRevision ?? null,
    last_at: run.lastAt === undefined ? null : time(run.lastAt),
    checks: run.checks ?? null,
    said: run.said ?? null,
    window_seconds: run.window ?? null,
  };
};

/** A row of `history_line` as the projection knows it. */
export const decodeLine = (row: Selectable<Columns>): HistoryLine => {
  const place = { machine: row.machine, revision: Number(row.revision), at: row.at.getTime() };
  return row.kind === 'event'
    ? {
        kind: 'event',
        ...place,
        type: row.type!,
        actor: { kind: row.actor_kind as EventLine['actor']['kind'], id: row.actor_id! },
        body: row.body!,
      }
    : {
        kind: 'checks',
        ...place,
        lastRevision: Number(row.last_revision),
        lastAt: row.last_at!.getTime(),
        checks: row.checks!,
        said: row.said as ChecksLine['said'],
        window: row.window_seconds!,
      };
};

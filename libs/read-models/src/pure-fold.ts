import type { Instant } from '@rollcall/decider';
import type { Batch } from '@rollcall/event-store';
import canonicalize from 'canonicalize';
import type { ReadModelDatabase } from './database.js';
import { hearOn, type Gap } from './gaps.js';
import { project as projectHistory, type HistoryLine } from './history/project.js';
import { decodeLine } from './history/store.js';
import { countParked, type ParkedCount } from './parked.js';
import { changeKey, isStillTold, projectWithChanges, type ChangeRow } from './presence/project-changes.js';
import type { PresenceRow } from './presence/project.js';
import { decodeChange, decodePresence } from './presence/store.js';
import {
  project as projectReadiness,
  type Episode,
  type ReadinessMachine,
  type ReadinessRows,
} from './readiness/project.js';
import { decodeEpisode, decodeReadinessMachine } from './readiness/store.js';
import { StagedRows, type Rows } from './rows.js';
import { NO_TRAIL, trailAfter } from './trail.js';
import type { Parked } from './understand.js';

/** What is kept in rows that follow from the facts alone. */
const NAMES = ['presence', 'history', 'readiness'] as const;
type ReadModelName = (typeof NAMES)[number];
/** What else follows the record: its rows move with time, so they are nobody's fold. */
const PLACES = [...NAMES, 'absence'] as const;

/** The read models in memory: the same projections over maps, and what the tables must be equal to. */
export class MemoryReadModels {
  readonly #presence = new Map<string, PresenceRow>();
  readonly #changes = new Map<string, ChangeRow>();
  readonly #lines = new Map<string, HistoryLine>();
  readonly #newest = new Map<string, HistoryLine>();
  readonly #readiness = {
    machines: new StagedRows<ReadinessMachine>(),
    standing: new StagedRows<readonly Episode[]>(),
    episodes: new StagedRows<Episode>(),
  } satisfies ReadinessRows;
  readonly #gaps: Gap[] = [];
  readonly #parked = { presence: [] as Parked[], history: [] as Parked[], readiness: [] as Parked[] };
  #checkpoint = 0n;
  #heardUntil: Instant | null = null;
  #trail = NO_TRAIL;

  /** @param gapSeconds see `hearOn` */
  constructor(private readonly gapSeconds = 15) {}

  apply(batches: readonly Batch[]): void {
    const presence: Rows<PresenceRow> = {
      get: (key) => this.#presence.get(key),
      put: (key, row) => void this.#presence.set(key, row),
    };
    const changes: Rows<ChangeRow> = {
      get: (key) => this.#changes.get(key),
      put: (key, change) => void this.#changes.set(key, change),
    };
    const newest: Rows<HistoryLine> = {
      get: (key) => this.#newest.get(key),
      put: (key, line) => {
        this.#newest.set(key, line);
        this.#lines.set(`${line.machine} ${line.revision}`, line);
      },
    };
    const { heardUntil, gaps } = hearOn(this.#heardUntil, batches, this.gapSeconds);
    this.#heardUntil = heardUntil;
    this.#gaps.push(...gaps);
    this.#trail = trailAfter(this.#trail, batches);
    for (const batch of batches) {
      this.#checkpoint = batch.number;
      for (const fact of batch.facts) {
        const parked = {
          presence: projectWithChanges(presence, changes, fact),
          history: projectHistory(newest, fact),
          readiness: projectReadiness(this.#readiness, fact),
        };
        for (const name of NAMES) if (parked[name] !== null) this.#parked[name].push(parked[name]);
      }
    }
  }

  presence(machine: string): PresenceRow | undefined {
    return this.#presence.get(machine);
  }

  /** What is told to a person of their machines, in order. */
  changes(owner: string): readonly ChangeRow[] {
    const order = ({ batch, machine }: ChangeRow): string => changeKey({ batch: batch + 10n ** 18n, machine });
    return [...this.#changes.values()]
      .filter((change) => change.owner === owner)
      .sort((one, other) => (order(one) < order(other) ? -1 : 1));
  }

  /** By revision. */
  history(machine: string): readonly HistoryLine[] {
    return [...this.#lines.values()].filter((line) => line.machine === machine).sort((a, b) => a.revision - b.revision);
  }

  /** By beginning. */
  readiness(machine: string): readonly Episode[] {
    return this.#readiness.episodes
      .changed()
      .filter((episode) => episode.machine === machine)
      .sort((a, b) => a.sinceRevision - b.sinceRevision);
  }

  parked(readModel: ReadModelName): readonly ParkedCount[] {
    return countParked(this.#parked[readModel]);
  }

  /** Of everything that was applied. */
  get trail(): string {
    return this.#trail;
  }

  gaps(): readonly Gap[] {
    return this.#gaps;
  }

  /** Everything as canonical text: one line per row, sorted. */
  dump(): string {
    const place = {
      checkpoint: this.#checkpoint,
      heardUntil: this.#heardUntil,
      gapEnd: this.#gaps.at(-1)?.until ?? null,
      trail: this.#trail,
      gaps: this.#gaps,
    };
    return text([
      ...[...this.#presence.values()].map((row) => ({ table: 'presence', ...row })),
      ...[...this.#changes.values()]
        .filter((change) => isStillTold(change, this.#heardUntil ?? change.at))
        .map((change) => ({ table: 'changes', ...change })),
      ...[...this.#lines.values()].map((line) => ({ table: 'history', ...line })),
      ...this.#readiness.machines.changed().map((row) => ({ table: 'readiness', ...row })),
      ...this.#readiness.episodes.changed().map((episode) => ({ table: 'readiness', ...episode })),
      ...PLACES.map((readModel) => ({ table: 'read_model', readModel, ...place })),
      ...NAMES.flatMap((readModel) =>
        countParked(this.#parked[readModel]).map((row) => ({ table: 'parked', readModel, ...row })),
      ),
    ]);
  }
}

/** The tables as the same canonical text: what a checker compares with `MemoryReadModels.dump`. */
export const dumpTables = async (database: ReadModelDatabase): Promise<string> => {
  const presence = await database.selectFrom('presence_machine').selectAll().execute();
  const changes = await database.selectFrom('presence_change').selectAll().execute();
  const lines = await database.selectFrom('history_line').selectAll().execute();
  const machines = await database.selectFrom('readiness_machine').selectAll().execute();
  const episodes = await database.selectFrom('readiness_episode').selectAll().execute();
  const parked = await database.selectFrom('read_model_parked').selectAll().execute();
  const gaps = await database.selectFrom('read_model_gap').selectAll().orderBy('batch').execute();
  const readModels = await database.selectFrom('read_model').selectAll().execute();
  const heardUntil = readModels.find(({ name }) => name === 'presence')?.heard_until;
  return text([
    ...presence.map((row) => ({ table: 'presence', ...decodePresence(row) })),
    ...changes
      .map(decodeChange)
      .filter((change) => isStillTold(change, heardUntil?.getTime() ?? change.at))
      .map((change) => ({ table: 'changes', ...change })),
    ...lines.map((row) => ({ table: 'history', ...decodeLine(row) })),
    ...machines.map((row) => ({ table: 'readiness', ...decodeReadinessMachine(row) })),
    ...episodes.map((row) => ({ table: 'readiness', ...decodeEpisode(row) })),
    ...readModels.map((row) => ({
      table: 'read_model',
      readModel: row.name,
      checkpoint: BigInt(row.checkpoint),
      heardUntil: row.heard_until?.getTime() ?? null,
      gapEnd: row.gap_end?.getTime() ?? null,
      trail: row.trail,
      gaps: gaps
        .filter((gap) => gap.read_model === row.name)
        .map((gap) => ({ batch: BigInt(gap.batch), from: gap.from_at.getTime(), until: gap.to_at.getTime() })),
    })),
    ...parked.map((row): { table: string; readModel: string } & ParkedCount => ({
      table: 'parked',
      readModel: row.read_model,
      stream: row.stream,
      reason: row.reason as Parked['reason'],
      firstRevision: Number(row.first_revision),
      lastRevision: Number(row.last_revision),
      facts: Number(row.facts),
      detail: row.detail,
    })),
  ]);
};

const text = (rows: readonly object[]): string => rows.map(line).sort().join('\n');

const line = (row: object): string =>
  canonicalize(
    JSON.parse(JSON.stringify(row, (_key, value: unknown) => (typeof value === 'bigint' ? value.toString() : value))),
  )!;

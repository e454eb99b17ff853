import type { EventStore } from '@rollcall/event-store';
import type { BlockerList, Readiness } from '@rollcall/wire';
import { sql } from 'kysely';
import type { ReadModelDatabase } from '../database.js';
import { asOf, inSnapshot } from '../snapshot.js';
import type { Episode } from './project.js';
import { decodeEpisode, readinessModel } from './store.js';
import { blockerSummaries, episodeView } from './view.js';

/** Which blockers. */
export type ListBlockers = {
  /** Only on machines of this person. (Default: everybody's) */
  readonly owner?: string;
  /** The whole catalogue, also what stands on no machine. (Default: false) */
  readonly all?: boolean;
};

/** Which part of a machine's episodes. */
export type ReadEpisodes = {
  /** 1 to 500. (Default: 100) */
  readonly limit?: number;
  /** The `next` of the page before. */
  readonly after?: string | null;
};

/** The most episodes in one answer. */
export const EPISODE_LIMIT = 500;

/** The form of a page's `next`. */
export const EPISODE_PLACE = /^(\d{1,15})\.(.{1,256})$/;

/** What keeps machines from taking work, now and before. */
export class ReadinessQueries {
  constructor(
    private readonly database: ReadModelDatabase,
    private readonly store: Pick<EventStore, 'newest'>,
  ) {}

  /** The blockers that stand now, by code. */
  async blockers({ owner, all = false }: ListBlockers = {}): Promise<BlockerList> {
    const newest = await this.store.newest();
    return inSnapshot(this.database, 'readiness_episode', readinessModel.name, async (transaction, heard) => {
      const heardUntil = new Date(heard.until ?? 0);
      const rows = await transaction
        .selectFrom('readiness_episode')
        .innerJoin('readiness_machine', 'readiness_machine.machine', 'readiness_episode.machine')
        .select(({ fn }) => [
          'code',
          fn.countAll<string>().as('machines'),
          fn.min('since_at').as('since'),
          sql<string>`floor(sum(extract(epoch from greatest(${heardUntil} - since_at, interval '0'))))`.as('seconds'),
        ])
        .where('until_at', 'is', null)
        .where((where) => where.or([where('expires_at', 'is', null), where('expires_at', '>', heardUntil)]))
        .where((where) => (owner === undefined ? where.val(true) : where('owner', '=', owner)))
        .groupBy('code')
        .execute();
      const standing = rows.map(({ code, machines, since, seconds }) => ({
        code,
        machines: Number(machines),
        since: since.getTime(),
        seconds: Number(seconds),
      }));
      return { ...asOf(heard, newest), blockers: blockerSummaries(standing, all) };
    });
  }

  /** A page of the episodes of one machine, the newest first; null where the read model does not know the machine (yet). */
  async of(machine: string, query: ReadEpisodes = {}): Promise<Readiness | null> {
    const limit = Math.min(Math.max(query.limit ?? 100, 1), EPISODE_LIMIT);
    const place = EPISODE_PLACE.exec(query.after ?? '');
    const newest = await this.store.newest();
    return inSnapshot(this.database, 'readiness_episode', readinessModel.name, async (transaction, heard) => {
      const known = await transaction
        .selectFrom('readiness_machine')
        .select('machine')
        .where('machine', '=', machine)
        .executeTakeFirst();
      if (!known || heard.until === null) return null;
      const heardUntil = heard.until;
      let select = transaction.selectFrom('readiness_episode').selectAll().where('machine', '=', machine);
      if (place) select = select.where(sql<boolean>`(since_revision, code) < (${place[1]}::bigint, ${place[2]})`);
      const rows = await select
        .orderBy('since_revision', 'desc')
        .orderBy('code', 'desc')
        .limit(limit + 1)
        .execute();
      const page = rows.slice(0, limit).map(decodeEpisode);
      return {
        ...asOf(heard, newest),
        machine: { id: machine },
        episodes: page.map((episode) => episodeView(episode, heardUntil)),
        next: rows.length > limit ? placeOf(page.at(-1)!) : null,
      };
    });
  }
}

const placeOf = ({ sinceRevision, code }: Episode): string => `${sinceRevision}.${code}`;

import type { Instant } from '@rollcall/decider';
import type { EventStore, RecordHead, StreamPast } from '@rollcall/event-store';
import {
  gapBetween,
  machine as machineRules,
  machineStream,
  olderUse,
  refusals,
  refusalsStream,
  why,
  type CredentialRefused,
  type Gap,
  type OlderUse,
} from '@rollcall/machine';
import { promiseBook, promiseOf, promisesStream, type PromiseEvent } from '@rollcall/promise-book';
import { promiseState } from '@rollcall/promises';
import type { Why } from '@rollcall/wire';
import { sql } from 'kysely';
import type { ReadModelDatabase } from '../database.js';
import { historyModel } from '../history/store.js';
import { project, type PresenceRow } from '../presence/project.js';
import { machineView } from '../presence/view.js';
import { StagedRows } from '../rows.js';
import { asOf, inSnapshot } from '../snapshot.js';
import { understand } from '../understand.js';
import { basisOf } from './basis.js';

/** Why there is no answer about that time: nothing is recorded of it yet, or the machine was not admitted yet. */
export type NoAnswer = { readonly refused: 'time-not-recorded' | 'not-admitted-then'; readonly detail: string };

/** The most gaps that an answer looks at: the newest. */
const MOST_GAPS = 1_000;

/** Why a machine is what it is, or was (B5). */
export class WhyQueries {
  constructor(
    private readonly database: ReadModelDatabase,
    private readonly store: Pick<EventStore, 'newest' | 'readPast'>,
    /** Two neighbouring ears further apart than this many seconds have a gap between them. */
    private readonly gapSeconds = 15,
  ) {}

  /**
   * The state of a machine at a time, and what it rests on: read from the record, so the answer is the one that was given then.
   *
   * @param at null: as of what the read models have heard
   */
  async of(machine: string, at: Instant | null): Promise<Why | NoAnswer> {
    const newest = await this.store.newest();
    if (at !== null && at > newest.recordedAt)
      return { refused: 'time-not-recorded', detail: `The record has come to ${utc(newest.recordedAt)}` };
    // The gaps are known as far as the history has come; from there on the answer is behind, and says so.
    const { age, known } = await this.#known(newest);
    if (known === null) return { refused: 'time-not-recorded', detail: 'Nothing of the record has been read yet' };
    const asked = at === null ? known : Math.min(at, known);
    const [past, refused] = await Promise.all([
      this.store.readPast(machineStream(machine), asked),
      this.store.readPast(refusalsStream(machine), asked),
    ]);
    const row = rowOf(machine, past);
    if (row === null)
      return { refused: 'not-admitted-then', detail: `Nothing was known of this machine at ${utc(asked)}` };
    const gaps = await this.#gaps(past.heard.recordedAt, row.lastCheckAt ?? row.admittedAt);
    return {
      ...(at !== null && at <= known ? { behind: false } : age),
      asOf: utc(past.heard.recordedAt),
      ...(await this.#explained(row, withOlderUse(past, refused), gaps, asked)),
    };
  }

  async #explained(
    row: PresenceRow,
    { past, older }: PastWithUse,
    { since, newestEnd }: { readonly since: readonly Gap[]; readonly newestEnd: Instant | null },
    asked: Instant,
  ): Promise<Pick<Why, 'machine' | 'sentence' | 'basis'>> {
    // Before the first ear nobody can have checked in.
    const heardUntil = past.heardUntil ?? past.heard.recordedAt;
    const view = machineView(row, { until: heardUntil, gapEnd: newestEnd });
    const promise = row.deletedAt === null ? await this.#promise(row, asked) : null;
    const blockers = view.blockers.map(({ code, since: begun }) => ({ code, since: Date.parse(begun) }));
    const sentence = why({
      ...row,
      heardUntil,
      deafUntil: gapBetween(heardUntil, asked, this.gapSeconds)?.until ?? null,
      presence: view.presence,
      lifecycle: view.lifecycle,
      gaps: since,
      blockers,
      pause: view.pause === null ? null : row.pause,
      olderUse: older,
      promise: promise && {
        state: promiseState(promise, view.presence === 'present', heardUntil),
        schedules: promise.schedules,
      },
    });
    return { machine: view, sentence, basis: basisOf(past, view, since) };
  }

  async #promise(row: PresenceRow, asked: Instant) {
    const { events } = await this.store.readPast(promisesStream(row.owner), asked);
    const facts = events.map(({ event }) => event as PromiseEvent);
    return promiseOf(row.node, row.labels, facts.reduce(promiseBook.evolve, promiseBook.initial()));
  }

  /** Until when the history knows the record: until the newest batch, or else at least until the newest ear. */
  #known(newest: RecordHead) {
    return inSnapshot(this.database, 'history_line', historyModel.name, (_transaction, heard) =>
      Promise.resolve({
        age: asOf(heard, newest),
        known: newest.number > 0n && heard.checkpoint >= newest.number ? newest.recordedAt : heard.until,
      }),
    );
  }

  /** The gaps until a time: the end of the newest, and those since another time. */
  async #gaps(until: Instant, since: Instant): Promise<{ since: readonly Gap[]; newestEnd: Instant | null }> {
    const rows = await this.database
      .selectFrom('read_model_gap')
      .select(['from_at', 'to_at'])
      .where('read_model', '=', historyModel.name)
      .where('to_at', '<=', new Date(until))
      .orderBy(sql`read_model_gap.batch desc`)
      .limit(MOST_GAPS)
      .execute();
    const gaps = rows.map(({ from_at, to_at }) => ({ from: from_at.getTime(), until: to_at.getTime() })).toReversed();
    return { since: gaps.filter((gap) => gap.until > since), newestEnd: gaps.at(-1)?.until ?? null };
  }
}

const utc = (instant: Instant): string => new Date(instant).toISOString();

/** A machine's past, and the use of an older credential that was newest then, which is among its events. */
type PastWithUse = { readonly past: StreamPast; readonly older: OlderUse | null };

const withOlderUse = (past: StreamPast, refused: StreamPast): PastWithUse => {
  const facts = past.events.map(understand).flatMap((one) => (one.understood ? [one.fact] : []));
  // Nothing else is recorded in that stream.
  const used = refused.events.map(({ event }) => event as unknown as CredentialRefused);
  const { credential } = facts.reduce(machineRules.evolve, machineRules.initial());
  const older = olderUse(used.reduce(refusals.evolve, refusals.initial()), credential);
  if (older === null) return { past, older };
  const newest = refused.events.filter((_, index) => Date.parse(used[index]!.refusedAt) === older.at);
  return { past: { ...past, events: [...past.events, ...newest] }, older };
};

/** The row of the read model `presence` as it was then: of all check-ins, only the newest says anything in it. */
const rowOf = (machine: string, { events, newestCheckIn }: StreamPast): PresenceRow | null => {
  const rows = new StagedRows<PresenceRow>();
  const facts = [...events, ...(newestCheckIn === null ? [] : [newestCheckIn])];
  for (const fact of facts.sort((one, other) => one.revision - other.revision)) project(rows, fact);
  return rows.get(machine) ?? null;
};

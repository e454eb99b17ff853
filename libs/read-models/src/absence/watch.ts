import type { Instant } from '@rollcall/decider';
import type { Actor, EventStore } from '@rollcall/event-store';
import { Bell, SystemClock, type Clock } from '@rollcall/lifetimes';
import { dueForAbsence, machine, machineStream } from '@rollcall/machine';
import { sql, type RawBuilder } from 'kysely';
import type { ReadModelDatabase } from '../database.js';
import type { FollowLog } from '../follow-record.js';
import { absenceModel } from './store.js';

/** What an absence watch works with. Times are in milliseconds. */
export type AbsenceWatchOptions = {
  readonly database: ReadModelDatabase;
  readonly store: Pick<EventStore, 'decide'>;
  readonly log: FollowLog;
  /** Between two sweeps while nobody rings. (Default: 1,000) */
  readonly sweepEvery?: number;
  /** Machines that are looked at together. (Default: 500) */
  readonly atOnce?: number;
  readonly clock?: Clock;
};

/** What a watch says of itself. */
export type WatchStatus = {
  /** Absences that this instance has recorded. */
  readonly recorded: number;
  /** Looks at machines. */
  readonly looks: number;
  /** Why nobody's absence is recorded, or that of a machine; null when all is well, and while this instance does not watch. */
  readonly failure: string | null;
};

const WATCH: Actor = { kind: 'plane', id: 'absence-watch' };
/** While one instance looks at a machine, the others leave it alone for this long. */
const LOOK_MS = 5_000;
/**
 * A machine is looked at at least this often. No window is shorter (O22), so a machine whose window has become shorter since the last look
 * cannot be absent before the next one.
 */
const LONGEST_REST_MS = 120_000;
/** One that cannot become absent is out of the table as soon as the fact that made it so is applied; until then there is no hurry. */
const NOTHING_TO_WAIT_FOR_MS = 60_000;
const SHORTEST_PAUSE_MS = 100;
/** Who failed is looked at again within seconds; who was not for so long is out of the table, and no trouble any more. */
const FORGET_TROUBLE_MS = 60_000;

/**
 * Records who went absent. A row says when a machine has to be looked at; the look decides on the head, against its revision, so whatever the
 * row says and however old this instance's view is, a check that came first wins, and a silence is recorded once (O22, C27). "Now" is what the
 * read model `absence` has heard of the record, never a wall clock, and its gaps count for nobody (B1).
 *
 * Any number of instances may sweep. A sweep takes rows by putting them off for a moment, in one statement: no transaction is open while it
 * looks, so an instance that is stopped in the middle holds up nobody.
 */
export class AbsenceWatch {
  readonly #options: Required<AbsenceWatchOptions>;
  readonly #bell: Bell;
  /** The machines that could not be looked at when it was last tried, with when that was (monotonic); who fails for longest is first. */
  readonly #troubles = new Map<string, { readonly error: unknown; readonly at: number }>();
  #status: WatchStatus = { recorded: 0, looks: 0, failure: null };

  constructor(options: AbsenceWatchOptions) {
    this.#options = { sweepEvery: 1_000, atOnce: 500, clock: new SystemClock(), ...options };
    this.#bell = new Bell(this.#options.clock);
  }

  status(): WatchStatus {
    return this.#status;
  }

  /** The record was heard a little further: somebody may be due. */
  ring(): void {
    this.#bell.ring();
  }

  /** Sweeps until `signal` aborts. Never rejects: what fails is tried again. */
  async run(signal: AbortSignal): Promise<void> {
    const { sweepEvery, clock } = this.#options;
    while (!signal.aborted) {
      try {
        while (!signal.aborted && (await this.sweep(signal)) > 0);
        this.#tell(this.#longestTrouble());
      } catch (error) {
        this.#tell({ error });
      }
      // Rings come with every batch; a sweep for each would be one question to the database for each check.
      await clock.sleep(SHORTEST_PAUSE_MS, signal);
      await this.#bell.wait(sweepEvery, signal);
    }
    // From here on it is another instance's trouble.
    this.#troubles.clear();
    this.#status = { ...this.#status, failure: null };
  }

  /** Says once that something fails, and once that nothing does any more: a sweep that finds nobody due is no proof of that. */
  #tell(trouble: { readonly error: unknown } | null): void {
    const { log } = this.#options;
    const failure = trouble && (trouble.error instanceof Error ? trouble.error.message : String(trouble.error));
    if (failure === this.#status.failure) return;
    if (trouble === null) log.info({}, 'watching for absences again');
    else log.warn({ err: trouble.error }, 'cannot watch for absences; trying again');
    this.#status = { ...this.#status, failure };
  }

  #longestTrouble(): { readonly error: unknown } | null {
    const forgotten = this.#options.clock.monotonic() - FORGET_TROUBLE_MS;
    for (const [id, { at }] of this.#troubles) if (at < forgotten) this.#troubles.delete(id);
    const [longest] = this.#troubles.values();
    return longest ?? null;
  }

  /**
   * One sweep over those that are due. Who cannot be looked at stays due, and holds up nobody else.
   *
   * @returns how many machines it looked at with success
   */
  async sweep(signal?: AbortSignal): Promise<number> {
    const { database } = this.#options;
    const taken = await takeDue(database, this.#options.atOnce);
    if (taken === null || taken.machines.length === 0 || signal?.aborted) return 0;
    const { machines, heardUntil, gapEnd } = taken;
    const looks = await Promise.allSettled(machines.map((id) => this.#look(id, heardUntil, gapEnd)));
    for (const [index, look] of looks.entries()) this.#note(machines[index] as string, look);
    const next = looks.flatMap((look) => (look.status === 'fulfilled' ? [look.value] : []));
    await putBack(
      database,
      next.map(({ id, due }) => ({ id, due: due ?? heardUntil + NOTHING_TO_WAIT_FOR_MS })),
    );
    this.#status = {
      ...this.#status,
      looks: this.#status.looks + machines.length,
      recorded: this.#status.recorded + next.filter(({ recorded }) => recorded).length,
    };
    return next.length;
  }

  #note(id: string, look: PromiseSettledResult<unknown>): void {
    if (look.status === 'fulfilled') this.#troubles.delete(id);
    else this.#troubles.set(id, { error: look.reason as unknown, at: this.#options.clock.monotonic() });
  }

  async #look(id: string, heardUntil: Instant, gapEnd: Instant | null) {
    const { state, repeated, lastCheckAt } = await this.#options.store.decide(
      machine,
      { stream: machineStream(id) },
      { type: 'NoteSilence', heardUntil, gapEnd },
      { actor: WATCH },
    );
    const due = dueForAbsence(state, { lastCheckAt, gapEnd });
    return { id, due: due === null ? null : Math.min(due, heardUntil + LONGEST_REST_MS), recorded: !repeated };
  }
}

type Taken = { readonly machines: string[]; readonly heard_until: Date; readonly gap_end: Date | null };

/**
 * Takes machines whose time has come, as far as the read model has heard. No row: it has heard nothing yet, or is being made anew and would
 * look at everybody as of long ago.
 * They are named in an array: a planner that expects many of them might read the whole table for a join.
 */
export const takeDueQuery = (limit: number): RawBuilder<Taken> => sql<Taken>`
    with heard as (
      select heard_until, gap_end from read_model
      where name = ${absenceModel.name} and heard_until is not null and not rebuild_requested and checkpoint >= rebuild_until
    ), due as (
      select machine from absence_due where due < (select heard_until from heard)
      order by due limit ${limit} for update skip locked
    ), taken as (
      update absence_due a set due = heard_until + ${LOOK_MS} * interval '1 millisecond'
      from heard where a.machine = any (array(select machine from due)) returning a.machine
    )
    select heard_until, gap_end, array(select machine from taken) as machines from heard`;

const takeDue = async (database: ReadModelDatabase, limit: number) => {
  const [row] = (await takeDueQuery(limit).execute(database)).rows;
  if (!row) return null;
  return { machines: row.machines, heardUntil: row.heard_until.getTime(), gapEnd: row.gap_end?.getTime() ?? null };
};

/** Puts machines off until they have to be looked at again. Who is not in the table any more stays out of it. */
const putBack = async (
  database: ReadModelDatabase,
  looked: readonly { readonly id: string; readonly due: Instant }[],
): Promise<void> => {
  await sql`update absence_due a set due = l.due
    from unnest(${looked.map(({ id }) => id)}::text[], ${looked.map(({ due }) => new Date(due))}::timestamptz[]) l(machine, due)
    where a.machine = l.machine`.execute(database);
};

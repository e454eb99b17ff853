import { timestampOf, type Instant } from '@rollcall/decider';
import { machineStream } from '@rollcall/machine';
import { sql, type Selectable, type Transaction } from 'kysely';
import type { NewDelivery } from '../queue.js';
import type { WebhookTables } from '../tables.js';
import { noticeIdFrom } from './notice-id.js';
import type { FleetQuestions } from './fleet-questions.js';
import { commonFactor, isFleetSilence, type Shared, type Silent } from './judgement.js';
import { digestBody, silenceBody } from './silence-body.js';

/** An absence that somebody would be told of. */
export type FoundAbsence = {
  readonly owner: string;
  readonly machine: string;
  /** Of the event that recorded it. */
  readonly eventId: string;
  readonly name: string | null;
  /** When it was recorded. */
  readonly at: Instant;
  readonly lastCheckAt: Instant;
  readonly dueAt: Instant;
  /** Seconds. */
  readonly window: number;
  /** Those that would be told. */
  readonly endpoints: readonly string[];
};

type Transacting = Transaction<WebhookTables>;
type Hold = Pick<
  Selectable<WebhookTables['silence_hold']>,
  'hold' | 'owner' | 'opened_at' | 'ends_at' | 'body' | 'digest'
>;

/**
 * Holds back single notices of absence while a large part of a fleet falls silent together (B4). When a first machine goes absent, lateness
 * already shows on the others: those that have missed two checks are counted, and if they are many, one notice goes out at once with what
 * they have in common. Until a window later the absences are held, and then those that still last go out as one digest. Absences are recorded all the same.
 *
 * To be used inside the transaction that moves the cursor, on the events in their order; that makes it once, on any number of instances.
 */
export class SilenceHolds {
  readonly #open: Map<string, Hold>;
  readonly #few = new Map<string, Instant>();

  private constructor(
    private readonly transaction: Transacting,
    private readonly endpoints: ReadonlyMap<string, unknown>,
    private readonly questions: FleetQuestions,
    open: readonly Hold[],
  ) {
    this.#open = new Map(open.map((hold) => [hold.owner, hold]));
  }

  /** @param endpoints those that are there, by id */
  static async in(
    transaction: Transacting,
    endpoints: ReadonlyMap<string, unknown>,
    questions: FleetQuestions,
  ): Promise<SilenceHolds> {
    const open = await transaction
      .selectFrom('silence_hold')
      .select(['hold', 'owner', 'opened_at', 'ends_at', 'body', 'digest'])
      .where('closed_at', 'is', null)
      .execute();
    return new SilenceHolds(transaction, endpoints, questions, open);
  }

  /**
   * An absence is found.
   *
   * @returns what its endpoints are told instead of it; null: it is not held, and they are told of it as usual
   */
  async absent(absence: FoundAbsence): Promise<readonly NewDelivery[] | null> {
    const hold = this.#open.get(absence.owner) ?? (await this.#openedFor(absence));
    if (hold === null) return null;
    await this.transaction
      .insertInto('silence_held')
      .values({
        hold: hold.hold,
        machine: absence.machine,
        name: absence.name,
        last_check_at: new Date(absence.lastCheckAt),
        due_at: new Date(absence.dueAt),
        endpoints: absence.endpoints,
      })
      .onConflict((conflict) => conflict.doNothing())
      .execute();
    // Whoever was told already is not told again: a notice has one id, and an endpoint gets it once.
    return absence.endpoints.map((endpoint) => ({
      endpoint,
      eventId: hold.hold,
      machine: null,
      sequence: 1,
      type: 'fleet.silence',
      body: hold.body,
      occurredAt: hold.opened_at.getTime(),
    }));
  }

  /**
   * A machine was heard from again, or is no more.
   *
   * @returns the endpoints from which its absence was held back: they were not told of it, so they are not told of its end
   */
  async over(machine: string): Promise<ReadonlySet<string>> {
    if (this.#open.size === 0) return new Set();
    const holds = [...this.#open.values()].map(({ hold }) => hold);
    const held = await this.transaction
      .deleteFrom('silence_held')
      .where('hold', 'in', holds)
      .where('machine', '=', machine)
      .returning('endpoints')
      .execute();
    return new Set(held.flatMap(({ endpoints }) => endpoints));
  }

  /** Closes the holds that have come to their end by the record's time; answers the digests of those that are still absent. */
  async closeUntil(now: Instant): Promise<readonly NewDelivery[]> {
    const digests: NewDelivery[] = [];
    for (const hold of [...this.#open.values()].filter(({ ends_at: endsAt }) => endsAt.getTime() <= now))
      digests.push(...(await this.#close(hold)));
    return digests;
  }

  async #openedFor(absence: FoundAbsence): Promise<Hold | null> {
    // The absences of one batch were found at one time, and so few others are silent at that time for all of them.
    if (this.#few.get(absence.owner) === absence.at) return null;
    const ask = <Result>(question: () => Promise<Result>) =>
      this.questions.ask(this.transaction, absence.owner, question);
    const silent = await ask(() => this.#count(absence));
    if (silent === null || !isFleetSilence(silent)) {
      this.#few.set(absence.owner, absence.at);
      return null;
    }
    const values = (await ask(() => this.#valuesOf(absence, silent.silent))) ?? [];
    const common = commonFactor(values, silent);
    const id = noticeIdFrom(absence.eventId, 'began');
    const hold: Hold = {
      hold: id,
      owner: absence.owner,
      opened_at: new Date(absence.at),
      ends_at: new Date(absence.at + absence.window * 1_000),
      body: silenceBody(absence.at, {
        phase: 'began',
        silence: id,
        ...silent,
        common,
        until: timestampOf(absence.at + absence.window * 1_000),
      }),
      digest: noticeIdFrom(absence.eventId, 'ended'),
    };
    await this.transaction.insertInto('silence_hold').values(hold).execute();
    this.#open.set(absence.owner, hold);
    return hold;
  }

  async #close(hold: Hold): Promise<readonly NewDelivery[]> {
    this.#open.delete(hold.owner);
    await this.transaction
      .updateTable('silence_hold')
      .set({ closed_at: hold.ends_at })
      .where('hold', '=', hold.hold)
      .execute();
    const held = await this.transaction
      .selectFrom('silence_held')
      .selectAll()
      .where('hold', '=', hold.hold)
      .orderBy('due_at')
      .orderBy('machine')
      .execute();
    const endpoints = [...new Set(held.flatMap((row) => row.endpoints))].filter((id) => this.endpoints.has(id));
    const at = hold.ends_at.getTime();
    return endpoints.map((endpoint) => {
      const absent = held
        .filter((row) => row.endpoints.includes(endpoint))
        .map((row) => ({
          machine: row.machine,
          name: row.name,
          lastCheckAt: timestampOf(row.last_check_at.getTime()),
          dueAt: timestampOf(row.due_at.getTime()),
        }));
      return {
        endpoint,
        eventId: hold.digest,
        machine: null,
        sequence: 2,
        type: 'fleet.silence',
        body: digestBody(at, hold.hold, absent),
        occurredAt: at,
      };
    });
  }

  /** Of those that were heard from until lately, and that no digest of late has told of: the others are nobody's news. */
  async #count(absence: FoundAbsence): Promise<Silent> {
    const { rows } = await sql<{ silent: number; of: number }>`
      with fleet as (${fleetOf(absence)})
      select count(*) filter (where late)::integer as silent, count(*)::integer as of from fleet`.execute(
      this.transaction,
    );
    return rows[0] ?? { silent: 0, of: 0 };
  }

  /** Those that at least half of the silent ones have; a label that is unique to each machine is none of them. */
  async #valuesOf(absence: FoundAbsence, silent: number): Promise<readonly Shared[]> {
    const { rows } = await sql<Shared>`
      with fleet as (${fleetOf(absence)})
      select attribute, left(value, 64) as value, count(*) filter (where late)::integer as silent, count(*)::integer as of
      from fleet, lateral (
        select key as attribute, value from jsonb_each_text(fleet.state -> 'report')
          where key in ('agentVersion', 'platform', 'arch')
        union all select 'label ' || key, value from jsonb_each_text(coalesce(fleet.state -> 'labels', '{}'))
      ) attributes
      where value is not null
      group by 1, 2 having count(*) filter (where late) >= ${silent / 2}`.execute(this.transaction);
    return rows;
  }
}

/**
 * The machines of an owner that were heard from until lately, and whether each has missed two checks while the plane listened, unless it had
 * said that it would stop. From the heads, which are never behind; and from what is recorded of the window that follows, where the notices are:
 * a silence that was over when they came to it was one all the same. Those of which a digest has told within a window are left out.
 */
const fleetOf = ({ owner, at, window }: FoundAbsence) => sql`
  select h.state,
    h.state #>> '{lastWord,said}' is distinct from 'stopping'
      and greatest(h.last_check_at, (select gap_end from read_model where name = 'absence')) < late.before
    or coalesce(went.since < late.before, false) as late
  from presence_machine p join stream_head h on h.stream = ${machineStream('')} || p.machine
  cross join lateral (
    select least(${new Date(at)}::timestamptz, (select heard_until from read_model where name = 'absence')) - 2 * (h.state -> 'boots' -> -1 ->> 'interval')::integer * interval '1 second' as before
  ) late
  left join (
    select machine, min((fact ->> 'dueAt')::timestamptz - (fact ->> 'window')::integer * interval '1 second') as since
    from history_line, lateral (select body::json as fact) bodies
    where type = 'WentAbsent' and at >= ${new Date(at)} and at <= ${new Date(at + window * 1_000)}
      and fact ->> 'stopReason' is null
    group by machine
  ) went using (machine)
  where p.owner = ${owner} and p.deleted_at is null and h.last_check_at is not null
    and coalesce((h.state #>> '{absence,dueAt}')::timestamptz > ${new Date(at - window * 1_000)}::timestamptz, true)
    and p.machine not in (
      select machine from silence_held where hold in (
        select hold from silence_hold where owner = ${owner} and closed_at > ${new Date(at - window * 1_000)}))`;

import { instantOf, timestampOf, type Instant } from '@rollcall/decider';
import { ledgerEventOf, type RecordedEvent } from '@rollcall/event-store';
import { machineIdOf, machineStream, type LabelsChanged, type MachineAdmitted } from '@rollcall/machine';
import {
  promiseBook,
  promiseOf,
  promisesStream,
  type NodePromise,
  type PromiseEvent,
  type Promises,
} from '@rollcall/promise-book';
import { isPromised, nextPromised } from '@rollcall/promises';
import { sql, type Selectable, type Transaction } from 'kysely';
import type { FleetQuestions } from '../fleet-silence/fleet-questions.js';
import { isFleetSilence } from '../fleet-silence/judgement.js';
import { noticeIdFrom } from '../fleet-silence/notice-id.js';
import { digestBody, type NamedMachine } from '../fleet-silence/silence-body.js';
import type { NewDelivery } from '../queue.js';
import type { WebhookTables } from '../tables.js';
import type { Notice } from './notice.js';
import { isTold, type Endpoint } from './subscriptions.js';

/**
 * What endpoints that want to hear only of broken promises are told of silences (N11): an absence at once where it became due in promised
 * time, else when promised time begins and the machine is still absent, and where it begins for many at once, of all of them at once (B4); a
 * return only where the absence was told. A stop that was announced
 * breaks nothing by surprise, so it is told as to everybody. All of it is judged by the record: promises and labels as of a batch, time as of
 * what was heard.
 */
export class PromisedSilences {
  constructor(
    private readonly transaction: Transaction<WebhookTables>,
    private readonly endpoints: ReadonlyMap<string, Endpoint>,
    private readonly questions: FleetQuestions,
  ) {}

  /** Most planes have no such endpoint, and every event of the record comes by here. */
  #isAsked(): boolean {
    return [...this.endpoints.values()].some(({ promisedOnly }) => promisedOnly);
  }

  /** A silence, as it is to be told: whether it breaks a promise is known from here on. */
  async began(notice: Notice, recorded: RecordedEvent): Promise<Notice> {
    if (!this.#isAsked()) return notice;
    if (notice.type === 'machine.stopped') {
      const judged = { ...notice, promised: null };
      // For the sake of the return that follows.
      await this.#keep(judged, recorded, ['machine.stopped', 'machine.returned'], null);
      return judged;
    }
    // It has one: whoever made a notice of it has read it.
    const dueAt = instantOf(recorded.event['dueAt'] as string);
    const promise = await this.#promiseOf(notice.owner, machineIdOf(recorded.stream), recorded.batch);
    const judged = { ...notice, promised: isPromised(promise, dueAt) };
    await this.#keep(judged, recorded, ['machine.absent'], judged.promised ? null : nextPromised(promise, dueAt));
    return judged;
  }

  /** The silence of a machine is over; answers which of these endpoints were told of it. */
  async ended(machine: string): Promise<ReadonlySet<string>> {
    if (!this.#isAsked()) return new Set();
    const rows = await this.transaction
      .deleteFrom('webhook_silence')
      .where('machine', '=', machine)
      .returning(['endpoint', 'told'])
      .execute();
    return new Set(rows.filter(({ told }) => told).map(({ endpoint }) => endpoint));
  }

  /** A person has promised something else than before: what was kept back from that person is looked at anew. */
  async promisesChanged(owner: string, at: Instant): Promise<void> {
    if (!this.#isAsked()) return;
    const theirs = [...this.endpoints.values()].filter((each) => each.owner === owner).map(({ endpoint }) => endpoint);
    if (theirs.length > 0) await this.#lookAgain(sql<boolean>`endpoint = any(${theirs}::uuid[])`, at);
  }

  /** A machine has other labels than before, and so perhaps other promises. */
  async labelsChanged(machine: string, at: Instant): Promise<void> {
    if (!this.#isAsked()) return;
    await this.#lookAgain(sql<boolean>`machine = ${machine}`, at);
  }

  /** What is told because promised time began until then. `upTo`: the batch until which promises and labels are known. */
  async lookUntil(at: Instant, upTo: bigint): Promise<readonly NewDelivery[]> {
    const told: NewDelivery[] = [];
    if (!this.#isAsked()) return told;
    for (;;) {
      const due = await this.transaction
        .selectFrom('webhook_silence')
        .selectAll()
        .where('look_at', '=', ({ selectFrom, fn }) =>
          selectFrom('webhook_silence').select(fn.min('look_at').as('first')).where('look_at', '<=', new Date(at)),
        )
        .orderBy('machine')
        .execute();
      const lookedAt = due[0]?.look_at?.getTime();
      if (lookedAt === undefined) return told;
      for (const [endpoint, rows] of Map.groupBy(due, (row) => row.endpoint))
        told.push(...(await this.#look(endpoint, rows, lookedAt, upTo)));
    }
  }

  /** Looks at all silences at once at which an endpoint is to be looked at this moment, as promised time begins for many at the same time. */
  async #look(
    endpoint: string,
    rows: readonly Kept[],
    lookedAt: Instant,
    upTo: bigint,
  ): Promise<readonly NewDelivery[]> {
    const owner = this.endpoints.get(endpoint)?.owner;
    const machines = rows.map(({ machine }) => machine);
    const promises = owner === undefined ? null : await this.#promisesOf(owner, machines, upTo);
    const [broken, others] = [true, false].map((isBroken) =>
      rows.filter(({ machine }) => isPromised(promises?.get(machine) ?? null, lookedAt) === isBroken),
    ) as [Kept[], Kept[]];
    const next = Map.groupBy(others, ({ machine }) => nextPromised(promises?.get(machine) ?? null, lookedAt));
    await this.#lookNext(endpoint, broken, { told: true, look_at: null });
    for (const [time, later] of next)
      await this.#lookNext(endpoint, later, { told: false, look_at: time === null ? null : new Date(time) });
    const isOneSilence = owner !== undefined && broken.length > 0 && (await this.#areMany(owner, broken.length));
    return isOneSilence ? [digestOf(endpoint, broken, lookedAt)] : broken.map((row) => singleOf(endpoint, row));
  }

  async #lookNext(
    endpoint: string,
    rows: readonly Kept[],
    change: { readonly told: boolean; readonly look_at: Date | null },
  ): Promise<void> {
    if (rows.length === 0) return;
    await this.transaction
      .updateTable('webhook_silence')
      .set(change)
      .where('endpoint', '=', endpoint)
      .where(sql<boolean>`machine = any(${rows.map(({ machine }) => machine)})`)
      .execute();
  }

  /** Whether so many of an owner's machines are told of as one silence (B4). Where the fleet cannot be counted, they are not. */
  async #areMany(owner: string, silent: number): Promise<boolean> {
    const count = await this.questions.ask(this.transaction, owner, async () => {
      const { rows } = await sql<{ of: number }>`
        select count(*)::integer as of from presence_machine
        where owner = ${owner} and deleted_at is null`.execute(this.transaction);
      return rows[0]?.of ?? 0;
    });
    return count !== null && count >= silent && isFleetSilence({ silent, of: count });
  }

  /** Remembers the silence for each of these endpoints that wants all these types: told where `promised` is not false. */
  async #keep(
    notice: Notice,
    { batch }: RecordedEvent,
    types: readonly Notice['type'][],
    lookAt: Instant | null,
  ): Promise<void> {
    const wanting = [...this.endpoints.values()].filter(
      (each) => each.promisedOnly && types.every((type) => isTold(each, { ...notice, type, promised: null }, batch)),
    );
    if (wanting.length === 0 || notice.machine === null) return;
    const { machine, eventId, sequence, type, body, occurredAt } = notice;
    await this.transaction
      .insertInto('webhook_silence')
      .values(
        wanting.map(({ endpoint }) => ({
          endpoint,
          machine,
          event_id: eventId,
          sequence: sequence.toString(),
          type,
          body,
          occurred_at: new Date(occurredAt),
          told: notice.promised !== false,
          look_at: lookAt === null ? null : new Date(lookAt),
        })),
      )
      .onConflict((conflict) =>
        conflict.columns(['endpoint', 'machine']).doUpdateSet(({ ref }) => ({
          event_id: ref('excluded.event_id'),
          sequence: ref('excluded.sequence'),
          type: ref('excluded.type'),
          body: ref('excluded.body'),
          occurred_at: ref('excluded.occurred_at'),
          told: ref('excluded.told'),
          look_at: ref('excluded.look_at'),
        })),
      )
      .execute();
  }

  async #lookAgain(where: ReturnType<typeof sql<boolean>>, at: Instant): Promise<void> {
    await this.transaction
      .updateTable('webhook_silence')
      .set({ look_at: new Date(at) })
      .where('told', '=', false)
      .where(where)
      .execute();
  }

  async #promiseOf(owner: string, machine: string, upTo: bigint): Promise<NodePromise | null> {
    return (await this.#promisesOf(owner, [machine], upTo)).get(machine) ?? null;
  }

  /** By machine; none of one that nothing is known of. */
  async #promisesOf(
    owner: string,
    machines: readonly string[],
    upTo: bigint,
  ): Promise<ReadonlyMap<string, NodePromise | null>> {
    const made = await this.#events([promisesStream(owner)], ['PromiseMade', 'PromiseWithdrawn'], upTo);
    const promises = made.reduce<Promises>(
      (state, { event }) => promiseBook.evolve(state, event as PromiseEvent),
      promiseBook.initial(),
    );
    const known = Map.groupBy(
      await this.#events(machines.map(machineStream), ['MachineAdmitted', 'LabelsChanged'], upTo),
      ({ stream }) => machineIdOf(stream),
    );
    return new Map(
      [...known].flatMap(([machine, facts]) => {
        const events = facts.map(({ event }) => event);
        const admitted = events.find(({ type }) => type === 'MachineAdmitted') as MachineAdmitted | undefined;
        const labelled = events.findLast(({ type }) => type === 'LabelsChanged') as LabelsChanged | undefined;
        return admitted === undefined
          ? []
          : [[machine, promiseOf(admitted.nodeId, labelled?.labels ?? {}, promises)] as const];
      }),
    );
  }

  /** Read from the record by index: nothing is kept between two questions, so nothing can be out of date, or lost. */
  async #events(streams: readonly string[], types: readonly string[], upTo: bigint) {
    const { rows } = await sql<{ stream: string; type: string; body: string }>`
      select stream, type, body from event
      where stream = any(${streams}) and type = any(${types}) and batch <= ${upTo.toString()}::bigint
      order by stream, revision`.execute(this.transaction);
    return rows.map(({ stream, type, body }) => ({ stream, event: ledgerEventOf(type, body) }));
  }
}

/** A silence that is remembered. */
type Kept = Selectable<WebhookTables['webhook_silence']>;

const singleOf = (endpoint: string, row: Kept): NewDelivery => ({
  endpoint,
  eventId: row.event_id,
  machine: row.machine,
  sequence: Number(row.sequence),
  type: row.type,
  body: row.body,
  occurredAt: row.occurred_at.getTime(),
});

/** What is told instead of many absences that break a promise from the same moment on. Its id follows from them, as does what it says (U5). */
const digestOf = (endpoint: string, rows: readonly Kept[], at: Instant): NewDelivery => {
  const eventId = noticeIdFrom(rows.map((row) => row.event_id).toSorted()[0]!, `promised ${timestampOf(at)}`);
  const absent = rows.map(({ machine, body }) => {
    // As it was made from the absence.
    const { data } = JSON.parse(body) as { data: Omit<NamedMachine, 'machine'> };
    const { name, lastCheckAt, dueAt } = data;
    return { machine, name, lastCheckAt, dueAt };
  });
  return {
    endpoint,
    eventId,
    machine: null,
    sequence: 1,
    type: 'fleet.silence',
    body: digestBody(at, eventId, absent),
    occurredAt: at,
  };
};

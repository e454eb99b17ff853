import { instantOf, type Instant } from '@rollcall/decider';
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
import { sql, type Transaction } from 'kysely';
import type { NewDelivery } from '../queue.js';
import type { WebhookTables } from '../tables.js';
import type { Notice } from './notice.js';
import { isTold, type Endpoint } from './subscriptions.js';

/**
 * What endpoints that want to hear only of broken promises are told of silences (N11): an absence at once where it became due in promised
 * time, else when promised time begins and the machine is still absent; a return only where the absence was told. A stop that was announced
 * breaks nothing by surprise, so it is told as to everybody. All of it is judged by the record: promises and labels as of a batch, time as of
 * what was heard.
 */
export class PromisedSilences {
  constructor(
    private readonly transaction: Transaction<WebhookTables>,
    private readonly endpoints: ReadonlyMap<string, Endpoint>,
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
      const row = await this.transaction
        .selectFrom('webhook_silence')
        .selectAll()
        .where('look_at', '<=', new Date(at))
        .orderBy('look_at')
        .orderBy('machine')
        .limit(1)
        .executeTakeFirst();
      if (!row?.look_at) return told;
      const { endpoint, machine, event_id: eventId, type, body, occurred_at } = row;
      const lookedAt = row.look_at.getTime();
      const owner = this.endpoints.get(endpoint)?.owner;
      const promise = owner === undefined ? null : await this.#promiseOf(owner, machine, upTo);
      const isBroken = isPromised(promise, lookedAt);
      if (isBroken) {
        const occurredAt = occurred_at.getTime();
        told.push({ endpoint, eventId, machine, sequence: Number(row.sequence), type, body, occurredAt });
      }
      const next = isBroken ? null : nextPromised(promise, lookedAt);
      await this.transaction
        .updateTable('webhook_silence')
        .set({ told: isBroken, look_at: next === null ? null : new Date(next) })
        .where('endpoint', '=', endpoint)
        .where('machine', '=', machine)
        .execute();
    }
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
    const made = await this.#events(promisesStream(owner), ['PromiseMade', 'PromiseWithdrawn'], upTo);
    const promises = made.reduce<Promises>(
      (state, event) => promiseBook.evolve(state, event as PromiseEvent),
      promiseBook.initial(),
    );
    const known = await this.#events(machineStream(machine), ['MachineAdmitted', 'LabelsChanged'], upTo);
    const admitted = known.find(({ type }) => type === 'MachineAdmitted') as MachineAdmitted | undefined;
    const labelled = known.findLast(({ type }) => type === 'LabelsChanged') as LabelsChanged | undefined;
    return admitted === undefined ? null : promiseOf(admitted.nodeId, labelled?.labels ?? {}, promises);
  }

  /** Read from the record by index: nothing is kept between two questions, so nothing can be out of date, or lost. */
  async #events(stream: string, types: readonly string[], upTo: bigint) {
    const { rows } = await sql<{ type: string; body: string }>`
      select type, body from event
      where stream = ${stream} and type = any(${types}) and batch <= ${upTo.toString()}::bigint
      order by revision`.execute(this.transaction);
    return rows.map(({ type, body }) => ledgerEventOf(type, body));
  }
}

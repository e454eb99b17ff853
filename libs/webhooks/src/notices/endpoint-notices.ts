import { instantOf, type Instant, type Json } from '@rollcall/decider';
import type { Batch, EventStore, RecordedEvent } from '@rollcall/event-store';
import { SystemClock, type Clock } from '@rollcall/lifetimes';
import { machineIdOf, type WentAbsent } from '@rollcall/machine';
import { promiserOf } from '@rollcall/promise-book';
import { endpointOf } from '@rollcall/webhook-endpoint';
import { sql, type Transaction } from 'kysely';
import { pauseByPerson } from '../endpoints.js';
import { FleetQuestions } from '../fleet-silence/fleet-questions.js';
import { SilenceHolds } from '../fleet-silence/holds.js';
import type { NewDelivery, Replayed, WebhookQueue } from '../queue.js';
import type { WebhookDatabase, WebhookTables } from '../tables.js';
import { addEndpoint, endpointsIn } from './endpoint-rows.js';
import { knownMachines } from './known-machines.js';
import {
  learn,
  machineStreamOf,
  noticeOf,
  testNotice,
  TYPES_OF,
  UNKNOWN,
  type KnownMachine,
  type Notice,
} from './notice.js';
import { PromisedSilences } from './promised-silences.js';
import { endpointIn, isId, isTold, type Endpoint } from './subscriptions.js';

/** How far the record was looked through for notices. */
export type NoticePlace = {
  readonly epoch: string;
  /** The newest batch that was looked at. */
  readonly checkpoint: bigint;
};

/** What it works with. */
export type EndpointNoticesOptions = {
  readonly database: WebhookDatabase;
  readonly queue: WebhookQueue;
  readonly log: { warn(fields: object, message: string): void };
  readonly clock?: Clock;
};

type Transacting = Transaction<WebhookTables>;

/** Who is told, and what of it is kept back, as it stands inside a transaction. */
type WhoIsTold = {
  readonly endpoints: Map<string, Endpoint>;
  readonly holds: SilenceHolds;
  readonly silences: PromisedSilences;
};

/** An event of which the database refuses what follows, and its SQLSTATE. */
type Refused = { readonly stream: string; readonly revision: number; readonly code: string };

/** The record lacks a batch between two others: always a fault, because batches are numbered in commit order. */
class HoleInTheRecord extends Error {
  override readonly name = 'HoleInTheRecord';
}

/**
 * Looks through the record for what people want to be told, and hands it over to be sent: each notice once, in the transaction that moves the
 * cursor. To be moved along the record like a read model, which it is none: its cursor only goes forward. Nothing that happened is told a
 * second time, whatever is rebuilt or restored (U5).
 */
export class EndpointNotices {
  readonly name = 'webhooks';

  readonly #questions: FleetQuestions;
  #skipped = 0;

  constructor(private readonly options: EndpointNoticesOptions) {
    this.#questions = new FleetQuestions(options.clock ?? new SystemClock());
  }

  /**
   * Where it stands. Where the record was restored, it goes on from there, or from the newest batch if it had come further: what is past
   * may have been sent, and is not sent again.
   */
  async look(
    record: Pick<EventStore, 'newest' | 'epoch'>,
  ): Promise<{ readonly place: NoticePlace | null; readonly newest: bigint }> {
    const { database, log } = this.options;
    const row = await database.selectFrom('webhook_cursor').select(['epoch', 'number']).executeTakeFirstOrThrow();
    const before: NoticePlace = { epoch: row.epoch, checkpoint: BigInt(row.number) };
    const epoch = await record.epoch();
    const { number: newest, recordedAt } = await record.newest();
    const isAhead = before.checkpoint > newest;
    if (before.epoch === epoch && !isAhead) return { place: before, newest };
    const place = { epoch, checkpoint: isAhead ? newest : before.checkpoint };
    if (!(await this.#moved(database, before, place, isAhead ? recordedAt : null))) return { place: null, newest };
    log.warn(
      { from: before.checkpoint.toString(), to: place.checkpoint.toString() },
      isAhead
        ? 'the record was restored to before what was looked through: webhooks go on from its newest batch, and send nothing that is past'
        : 'the record is of another epoch: webhooks go on from where they stand',
    );
    return { place, newest };
  }

  /**
   * Takes whole batches in order.
   *
   * @param batches what follows; batches at or below the place were seen and are passed over
   * @returns the new place; null when it is not at `place` any more, and then nothing was changed
   * @throws HoleInTheRecord when a batch is missing
   */
  async apply(
    place: NoticePlace,
    batches: readonly Batch[],
    reached: (step: 'applied' | 'committed') => void,
  ): Promise<NoticePlace | null> {
    const news = batches.filter(({ number }) => number > place.checkpoint);
    const last = news.at(-1);
    if (last === undefined) return place;
    for (const [index, { number }] of news.entries())
      if (number !== place.checkpoint + BigInt(index) + 1n)
        throw new HoleInTheRecord(`a batch is missing before batch ${number}`);
    const next = { epoch: place.epoch, checkpoint: last.number };
    const events = news.flatMap(({ facts }) => facts.filter((fact) => fact.kind === 'event'));
    const inOneTransaction = (oneByOne: boolean) =>
      this.options.database.transaction().execute(async (transaction) => {
        // First of all: this takes the row's lock, so a second instance waits here and then finds itself overtaken.
        if (!(await this.#moved(transaction, place, next, last.recordedAt))) return null;
        const heard = { seen: place.checkpoint, heardUntil: last.recordedAt };
        const refused = await this.#tell(transaction, events, heard, oneByOne);
        reached('applied');
        return { next, refused };
      });
    const applied = await inOneTransaction(false).catch((error: unknown) => {
      if (!isRefusedValue(error)) throw error;
      // One event of which the database will not store what follows fails all that share its transaction: once more, each on its own.
      return inOneTransaction(true);
    });
    reached('committed');
    for (const each of applied?.refused ?? []) {
      this.#skipped += 1;
      this.options.log.warn(each, 'the database refuses what webhooks are told of an event; nobody is told of it');
    }
    return applied?.next ?? null;
  }

  async #moved(
    database: WebhookDatabase,
    from: NoticePlace,
    to: NoticePlace,
    heardUntil: number | null,
  ): Promise<boolean> {
    const { numUpdatedRows } = await database
      .updateTable('webhook_cursor')
      .set({
        epoch: to.epoch,
        number: to.checkpoint.toString(),
        ...(heardUntil === null ? {} : { heard_until: new Date(heardUntil) }),
      })
      .where('epoch', '=', from.epoch)
      .where('number', '=', from.checkpoint.toString())
      .executeTakeFirst();
    return numUpdatedRows === 1n;
  }

  /** Events since the start of which nobody was told, because the database refused what was to be told. */
  get skipped(): number {
    return this.#skipped;
  }

  /**
   * Carries out what the events ask for, in their order. `seen`: the newest batch before them; `heardUntil`: the time of the newest now.
   *
   * @param oneByOne passes over the events of which the database refuses what follows
   * @returns those
   */
  async #tell(
    transaction: Transacting,
    events: readonly RecordedEvent[],
    { seen, heardUntil }: { readonly seen: bigint; readonly heardUntil: Instant },
    oneByOne: boolean,
  ): Promise<readonly Refused[]> {
    let who = await this.#whoIsTold(transaction);
    const wanted = new Set(
      [...who.endpoints.values(), ...events.flatMap(addedBy)].flatMap((endpoint) => endpoint.events),
    );
    const isNews = ({ event }: RecordedEvent) => TYPES_OF[event.type]?.some((type) => wanted.has(type)) ?? false;
    const streams = new Set(
      events
        .map((event) => (isNews(event) ? machineStreamOf(event.stream) : ''))
        .filter((stream) => isMachine({ stream })),
    );
    const known = await knownMachines(transaction, [...streams], seen);
    const told: NewDelivery[] = [];
    const refused: Refused[] = [];
    let upTo = seen;
    for (const recorded of events) {
      const { recordedAt, stream, revision } = recorded;
      told.push(...(await who.holds.closeUntil(recordedAt)), ...(await who.silences.lookUntil(recordedAt, upTo)));
      upTo = recorded.batch;
      const before = streams.has(machineStreamOf(stream)) ? (known.get(machineStreamOf(stream)) ?? UNKNOWN) : null;
      if (before !== null) known.set(machineStreamOf(stream), learn(before, recorded.event));
      // What was told so far is affected by what is asked of an endpoint now.
      if (oneByOne || endpointOf(stream) !== null) await this.#handOver(transaction, told.splice(0));
      if (!oneByOne) told.push(...(await this.#follow(transaction, who, before, recorded)));
      else {
        const code = await codeOfRefusal(transaction, async () =>
          this.#handOver(transaction, await this.#follow(transaction, who, before, recorded)),
        );
        if (code === null) continue;
        refused.push({ stream, revision, code });
        // What it had changed is as it was before.
        who = await this.#whoIsTold(transaction);
      }
    }
    told.push(...(await who.holds.closeUntil(heardUntil)), ...(await who.silences.lookUntil(heardUntil, upTo)));
    await this.#handOver(transaction, told);
    return refused;
  }

  async #whoIsTold(transaction: Transacting): Promise<WhoIsTold> {
    const endpoints = await endpointsIn(transaction);
    return {
      endpoints,
      holds: await SilenceHolds.in(transaction, endpoints, this.#questions),
      silences: new PromisedSilences(transaction, endpoints, this.#questions),
    };
  }

  /** What is told because of one event. `before`: what was known of its machine; null where that is nobody's news. */
  async #follow(
    transaction: Transacting,
    { endpoints, holds, silences }: WhoIsTold,
    before: KnownMachine | null,
    recorded: RecordedEvent,
  ): Promise<readonly NewDelivery[]> {
    const { stream, event, batch, recordedAt } = recorded;
    const promiser = promiserOf(stream);
    if (promiser !== null) await silences.promisesChanged(promiser, recordedAt);
    if (isMachine(recorded) && event.type === 'LabelsChanged')
      await silences.labelsChanged(machineIdOf(stream), recordedAt);
    const endpoint = endpointOf(stream);
    if (endpoint !== null) return this.#changeEndpoint(transaction, endpoints, endpoint, recorded);
    if (before === null) return [];
    const isEnd = isOver(recorded);
    const ended = isEnd ? await silences.ended(machineIdOf(stream)) : null;
    const held = isEnd ? await holds.over(machineIdOf(stream)) : null;
    const found = noticeOf(before, recorded);
    if (found === null) return [];
    const notice = event.type === 'WentAbsent' ? await silences.began(found, recorded) : found;
    const instead = await this.#heldBack(holds, [...endpoints.values()], notice, recorded);
    if (instead !== null) return instead;
    return [...endpoints.values()]
      .filter((each) => isTold(each, toldTo(each, notice, ended), batch) && !isHeld(each, notice, held))
      .map((each) => deliveryOf(each.endpoint, notice));
  }

  /** What is told instead of an absence that is one of many; null: there is nothing to hold back (B4). */
  async #heldBack(
    holds: SilenceHolds,
    endpoints: readonly Endpoint[],
    notice: Notice,
    { event, batch, recordedAt }: RecordedEvent,
  ): Promise<readonly NewDelivery[] | null> {
    if (notice.type !== 'machine.absent' || notice.machine === null) return null;
    const wanting = endpoints.filter((each) => ABSENCES.some((type) => isTold(each, { ...notice, type }, batch)));
    if (wanting.length === 0) return null;
    const { lastCheckAt, dueAt, window } = event as unknown as WentAbsent;
    return holds.absent({
      owner: notice.owner,
      machine: notice.machine,
      eventId: notice.eventId,
      name: notice.name,
      at: recordedAt,
      lastCheckAt: instantOf(lastCheckAt),
      dueAt: instantOf(dueAt),
      window,
      endpoints: wanting.map(({ endpoint }) => endpoint),
    });
  }

  async #handOver(transaction: Transacting, told: readonly NewDelivery[]): Promise<void> {
    for (let from = 0; from < told.length; from += TOLD_AT_ONCE)
      await this.options.queue.enqueueDeliveries(transaction, told.slice(from, from + TOLD_AT_ONCE));
  }

  /** Does what an event of an endpoint says; answers what the endpoint is told because of it. */
  async #changeEndpoint(
    transaction: Transacting,
    endpoints: Map<string, Endpoint>,
    id: string,
    recorded: RecordedEvent,
  ): Promise<readonly NewDelivery[]> {
    const { queue } = this.options;
    const [added] = addedBy(recorded);
    if (added) {
      await addEndpoint(transaction, added, recorded.recordedAt);
      endpoints.set(id, added);
    }
    const endpoint = endpoints.get(id);
    if (endpoint === undefined) return [];
    switch (recorded.event.type) {
      case 'WebhookTestRequested':
        return [deliveryOf(id, testNotice(recorded, id, endpoint.owner))];
      case 'WebhookEndpointPaused':
        await pauseByPerson(transaction, id);
        return [];
      case 'WebhookEndpointResumed':
        await queue.resume(transaction, id);
        return [];
      case 'WebhookReplayRequested': {
        const which = replayedBy(recorded.event);
        if (which !== null) await queue.replayDeliveries(transaction, id, which);
        return [];
      }
      case 'WebhookEndpointRemoved':
        await queue.remove(transaction, id);
        endpoints.delete(id);
        return [];
      default:
        return [];
    }
  }
}

/** Deliveries that are stored by one statement, whose parameters are numbered in 16 bits. */
const TOLD_AT_ONCE = 1_000;

/** Whoever is told of absences is told of one silence of all of them instead, and some want to be told of nothing else. */
const ABSENCES = ['machine.absent', 'fleet.silence'] as const;

/** A return is news to whoever was told of the absence, which those who hear only of broken promises may not have been. */
const toldTo = ({ endpoint }: Endpoint, notice: Notice, ended: ReadonlySet<string> | null): Notice =>
  notice.type === 'machine.returned' ? { ...notice, promised: ended?.has(endpoint) ?? false } : notice;

/** A return is no news to whoever the absence was held back from; to all others it is (B4). */
const isHeld = ({ endpoint }: Endpoint, { type }: Notice, held: ReadonlySet<string> | null): boolean =>
  type === 'machine.returned' && (held?.has(endpoint) ?? false);

/** Whether an event ends an absence. */
const isOver = ({ event }: RecordedEvent): boolean => event.type === 'Returned' || event.type === 'MachineDeleted';

const isMachine = ({ stream }: Pick<RecordedEvent, 'stream'>): boolean => stream.startsWith('machine-');

const addedBy = ({ stream, event, batch }: RecordedEvent) => {
  const id = endpointOf(stream);
  const added = id !== null && event.type === 'WebhookEndpointAdded' ? endpointIn(id, event, batch) : null;
  return added === null ? [] : [added];
};

/** Does something; where the database refuses a value of it, all of it is undone. @returns the SQLSTATE, or null where it was done */
const codeOfRefusal = async (transaction: Transacting, work: () => Promise<void>): Promise<string | null> => {
  await sql`savepoint event`.execute(transaction);
  try {
    await work();
    await sql`release savepoint event`.execute(transaction);
    return null;
  } catch (error) {
    if (!isRefusedValue(error)) throw error;
    await sql`rollback to savepoint event`.execute(transaction);
    return error.code;
  }
};

/** Data exceptions, broken constraints and exceeded limits: the same value will be refused again. */
const isRefusedValue = (error: unknown): error is { readonly code: string } =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' && /^(22|23|54)/.test(error.code);

const deliveryOf = (endpoint: string, notice: Notice): NewDelivery => {
  const { eventId, machine, sequence, type, body, occurredAt } = notice;
  return { endpoint, eventId, machine, sequence, type, body, occurredAt };
};

/** null: of a shape that this version does not know. */
const replayedBy = ({ eventId, from, to, types }: { readonly [field: string]: Json }): Replayed | null => {
  if (typeof eventId === 'string') return isId(eventId) ? { eventId } : null;
  const [since, until] = [from, to].map((time) => (typeof time === 'string' ? instantOf(time) : NaN)) as [
    number,
    number,
  ];
  if (Number.isNaN(since) || Number.isNaN(until) || !Array.isArray(types)) return null;
  const texts = types.filter((type): type is string => typeof type === 'string');
  return { from: since, to: until, types: texts.length === 0 ? null : texts };
};

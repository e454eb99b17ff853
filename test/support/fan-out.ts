import { setTimeout as wait } from 'node:timers/promises';
import { Fleet, type FleetReport } from '@rollcall/fleet-simulator';
import { BATCH_STREAM, BATCH_SUBJECT, placeOfMessageId } from '@rollcall/feed';
import { READ_MODELS } from '@rollcall/read-models';
import { amount } from './amount.js';
import { startNats, type TestNats } from './nats.js';
import { Owner } from './owner.js';
import { QUICK, startPlane, type ProcessPlane } from './plane.js';
import { eventually, type Running } from './processes.js';
import { verdictOn } from './verdict.js';
import { Witness } from './witness.js';

const MACHINES = 200;
/** Checks per second. */
export const RATE = amount({ usual: 120, whole: 500 });
/** Seconds after which what a reader had taken and not acknowledged comes again: a reader that was killed leaves such. */
const COMES_AGAIN_AFTER = amount({ usual: 5, whole: 30 });
/** How many checks are accepted before something happens, and again after it. */
const AROUND = amount({ usual: 200, whole: 500 });
/** How long the read models, and the publishing, may take to get where the record is once no machine checks in any more. */
const CATCH_UP_MS = 20_000;
/** How long until what is recorded travels by the feed again: the client tries every few seconds, and what was taken has to come again. */
const FLOW_MS = 45_000;

/**
 * Notes each step of each checkpoint that is committed, and each try to move a checkpoint or the cursor that came too late. Rows of read models
 * bear to be written again, and a checkpoint that goes back is soon right again; so what a second application leaves behind may be
 * nothing at all, and it has to be seen when it happens.
 */
const NOTES = `
  create table checkpoint_step (id bigint generated always as identity, name text, old bigint, new bigint);
  create function note_step() returns trigger security definer language plpgsql as $$
    begin insert into checkpoint_step (name, old, new) values (new.name, old.checkpoint, new.checkpoint); return null; end $$;
  create trigger note_step after update of checkpoint on read_model for each row execute function note_step();
  create table overtaken (place text);
  create function note_overtaken() returns trigger security definer language plpgsql as $$
    begin if not exists (select from moved) then insert into overtaken values (tg_table_name); end if; return null; end $$;
  create trigger note_overtaken after update on read_model
    referencing new table as moved for each statement execute function note_overtaken();
  create trigger note_overtaken after update on relay_cursor
    referencing new table as moved for each statement execute function note_overtaken()`;

/** What is left to be said once a fault is over. */
export type Aftermath = {
  /** What the machines saw of it. */
  readonly report: FleetReport;
  /** The longest time by which a read model was behind the record meanwhile, in seconds of the record. */
  readonly longestLag: number;
  /** What `npm run verify` finds, by invariant: its first offenders. */
  readonly broken: Readonly<Record<string, readonly string[]>>;
  /** Steps of a checkpoint that did not begin where the one before had ended, or did not go forward: a batch left out, or applied again. */
  readonly missteps: readonly string[];
  /** Ids of ledger events that nobody has seen published. */
  readonly unpublished: readonly string[];
};

/** A plane with two projectors on a nats-server, machines that check in at `RATE`, and a witness of what is published. */
export class FanOut {
  readonly #answered: string[] = [];

  private constructor(
    private readonly begun: AsyncDisposableStack,
    readonly plane: ProcessPlane,
    readonly nats: TestNats,
    readonly witness: Witness,
    readonly owner: Owner,
    readonly fleet: Fleet,
    /** Both; the first leads at the start. */
    readonly projectors: readonly Running[],
    /** What another projector on this server is told. */
    readonly settings: Readonly<Record<string, string>>,
  ) {}

  /**
   * Starts it all, and lets the machines join.
   *
   * @param through where the plane finds the server (Default: the server itself)
   */
  static async start(
    through: (nats: TestNats) => Promise<string> = (nats) => Promise.resolve(nats.url),
  ): Promise<FanOut> {
    await using begun = new AsyncDisposableStack();
    const nats = begun.adopt(await startNats(), (server) => server.close());
    const settings = {
      ROLLCALL_NATS_URL: await through(nats),
      ROLLCALL_NATS_RELAY_CREDENTIALS_FILE: nats.credentials.relay,
      ROLLCALL_NATS_READER_CREDENTIALS_FILE: nats.credentials.projector,
      ROLLCALL_NATS_ACKNOWLEDGE_SECONDS: String(COMES_AGAIN_AFTER),
    };
    const witness = begun.use(await Witness.listen(nats));
    const options = { projector: settings, quietMs: 15_000 };
    const plane = begun.adopt(await startPlane(QUICK, options), (started) => started.close());
    const second = await plane.startProjector(settings);
    const fleet = begun.use(new Fleet({ eventEvery: 20 }));
    await fleet.enrol(MACHINES, () => plane.enrolmentToken(), AbortSignal.timeout(60_000));
    const owner = begun.use(await Owner.connect(plane.database.ownerUrl));
    await owner.rows(NOTES);
    return new FanOut(begun.move(), plane, nats, witness, owner, fleet, [plane.projector, second], settings);
  }

  /** Lets the machines check in while something happens, and waits until everything has come to rest after it. */
  async during(fault: () => Promise<void>): Promise<Aftermath> {
    const over = new AbortController();
    const running = this.fleet.run({
      rate: RATE,
      signal: over.signal,
      onAccepted: ({ checkId }) => this.#answered.push(checkId),
    });
    const watching = this.#watchLag(over.signal);
    const ended = Promise.allSettled([running, watching]);
    try {
      await this.checks(AROUND);
      await fault();
      await this.#fed();
      await this.checks(AROUND);
    } finally {
      over.abort();
      await ended;
    }
    await this.#shown();
    await eventually('all is published', async () => (await this.#unpublished()).length === 0, CATCH_UP_MS).catch(
      // The aftermath tells which are not.
      () => undefined,
    );
    return {
      report: await running,
      longestLag: await watching,
      broken: await verdictOn(this.plane, this.#answered),
      missteps: await this.#missteps(),
      unpublished: await this.#unpublished(),
    };
  }

  /** Resolves when that many more checks were accepted: the unit in which a fault lasts. */
  async checks(count: number): Promise<void> {
    const until = this.#answered.length + count;
    await eventually(`${count} more are accepted`, () => Promise.resolve(this.#answered.length >= until), 60_000);
  }

  /** Up to which batch each loop has come: `relay`, and the read models by their names. */
  async progress(): Promise<Readonly<Record<string, number>>> {
    const rows = await this.owner.rows<{ name: string; number: number }>(
      `select name, checkpoint::integer as number from read_model union all select 'relay', number::integer from relay_cursor`,
    );
    return Object.fromEntries(rows.map(({ name, number }) => [name, number]));
  }

  /** How often somebody wanted to move a checkpoint (`read_model`) or the cursor (`relay_cursor`) from where it no longer was. */
  overtaken(place: 'read_model' | 'relay_cursor'): Promise<number> {
    return this.owner.value('select count(*)::integer from overtaken where place = $1', [place]);
  }

  /** The ids of the events that are recorded, from a position on. */
  async events(from = 0): Promise<readonly string[]> {
    const rows = await this.owner.rows<{ id: string }>(
      'select event_id::text as id from event where position >= $1 order by position',
      [from],
    );
    return rows.map(({ id }) => id);
  }

  close(): Promise<void> {
    return this.begun.disposeAsync();
  }

  async #watchLag(signal: AbortSignal): Promise<number> {
    let longest = 0;
    while (!signal.aborted) {
      const lag = await this.owner.value<number>(
        `select extract(epoch from (select recorded_at from batch order by number desc limit 1) - min(heard_until))::float8
         from read_model`,
      );
      longest = Math.max(longest, lag);
      await wait(100);
    }
    return longest;
  }

  /** Resolves when the read models show what is recorded now; marks go on being recorded. */
  async #shown(): Promise<void> {
    const { number } = await this.plane.store.newest();
    await eventually(
      'the read models show what was recorded',
      () => this.owner.value<boolean>('select min(checkpoint) >= $1 from read_model', [number]),
      CATCH_UP_MS,
    );
  }

  /** Resolves when the feed brings what is recorded now: a fault that is over has left no read model on the record alone. */
  async #fed(): Promise<void> {
    const { number } = await this.plane.store.newest();
    const admin = await this.witness.admin();
    await eventually(
      'the feed flows again',
      async () => {
        const newest = await admin.streams.getMessage(BATCH_STREAM, { last_by_subj: BATCH_SUBJECT });
        const { number: published } = placeOfMessageId(newest?.header.get('Nats-Msg-Id') ?? '') ?? { number: 0n };
        const readers = await admin.consumers.list(BATCH_STREAM).next();
        return (
          published >= number &&
          READ_MODELS.every(({ name }) => {
            const reader = readers.find((consumer) => consumer.name === name);
            return reader && reader.num_pending < 64;
          })
        );
      },
      FLOW_MS,
    );
  }

  /**
   * The events that nobody has seen, neither live nor in the stream. "Published at least once" ends with the server's confirmation: where its
   * store is lost after that, an event reached those who listened, and whoever comes later finds it in the record only.
   */
  async #unpublished(): Promise<readonly string[]> {
    for (const id of await this.witness.stored().catch(() => [])) this.witness.seen.add(id);
    return (await this.events()).filter((id) => !this.witness.seen.has(id));
  }

  async #missteps(): Promise<readonly string[]> {
    const rows = await this.owner.rows<{ sentence: string }>(
      `select format('%s went from batch %s to %s, after it had come to %s', name, old, new, before) as sentence
       from (select *, lag(new, 1, old) over (partition by name order by id) as before from checkpoint_step) steps
       where old <> before or new <= old`,
    );
    return rows.map(({ sentence }) => sentence);
  }
}

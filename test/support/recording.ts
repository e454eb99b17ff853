import { join, resolve } from 'node:path';
import { Fleet, type FleetReport, type SentCheck } from '@rollcall/fleet-simulator';
import { PinnedClient } from '@rollcall/pinned-https';
import { amount } from './amount.js';
import { HandMadeMachine, type Answered, type Send } from './hand-made-machine.js';
import { Owner } from './owner.js';
import { QUICK, startPlane, type PlaneOptions, type ProcessPlane, type Timing } from './plane.js';
import { eventually, type Running } from './processes.js';
import { verdictOn } from './verdict.js';

const MACHINES = 100;
/** Checks per second. */
export const RATE = amount({ usual: 150, whole: 300 });
const BUSY_MS = 60_000;

/** A check whose id stands here takes so much longer inside of its append, between its row and the commit. */
const LINGER = `
  create table linger (check_id uuid primary key, seconds float8);
  create function linger() returns trigger security definer language plpgsql as $$
    begin perform pg_sleep(seconds) from linger where check_id = new.check_id; return new; end $$;
  create trigger linger after insert on check_in for each row execute function linger()`;

/** What machines saw while something was broken, and what is left of it. */
export type Recorded = {
  readonly report: FleetReport;
  readonly checks: readonly SentCheck[];
  /** What `npm run verify` finds, by invariant: its first offenders. */
  readonly broken: Readonly<Record<string, readonly string[]>>;
};

/** An instance of the machine API, spoken to without a balancer. */
export type Instance = { readonly running: Running; readonly send: Send };

/** A plane whose record is the subject: machines check in at `RATE`, and what they are answered has to be true. */
export class Recording {
  readonly #answered: string[] = [];
  readonly #clients = new Map<string, PinnedClient>();

  private constructor(
    private readonly begun: AsyncDisposableStack,
    readonly plane: ProcessPlane,
    readonly fleet: Fleet,
    /** Both machine APIs; one that was started again takes its place. */
    readonly instances: Instance[],
  ) {}

  /** Starts it, and lets the machines join. */
  static async start(options: PlaneOptions = {}, timing: Timing = QUICK): Promise<Recording> {
    await using begun = new AsyncDisposableStack();
    const plane = begun.adopt(await startPlane(timing, { quietMs: 15_000, ...options }), (started) => started.close());
    const fleet = begun.use(new Fleet({ eventEvery: 20 }));
    await using owner = await Owner.connect(plane.database.ownerUrl);
    await owner.rows(LINGER);
    await fleet.enrol(MACHINES, () => plane.enrolmentToken(), AbortSignal.timeout(BUSY_MS));
    const recording = new Recording(begun.move(), plane, fleet, []);
    for (const running of plane.machineApis)
      recording.instances.push({ running, send: recording.#sendTo(await originOf(running)) });
    return recording;
  }

  /** Lets the machines check in while something happens, which sees what they sent so far; and judges the record once they have stopped. */
  async during(fault: (checks: readonly SentCheck[]) => Promise<void>): Promise<Recorded> {
    const over = new AbortController();
    const checks: SentCheck[] = [];
    const running = this.fleet.run({
      rate: RATE,
      signal: over.signal,
      onAccepted: ({ checkId }) => this.#answered.push(checkId),
      onCheck: (check) => checks.push(check),
    });
    const ended = Promise.allSettled([running]);
    try {
      await this.accepts(RATE);
      await fault(checks);
      await this.accepts(RATE);
    } finally {
      over.abort();
      await ended;
    }
    await this.shown();
    return { report: await running, checks, broken: await verdictOn(this.plane, this.#answered) };
  }

  /** Resolves when that many more checks were accepted. */
  async accepts(count: number): Promise<void> {
    const until = this.#answered.length + count;
    await eventually(`${count} more are accepted`, () => Promise.resolve(this.#answered.length >= until), BUSY_MS);
  }

  /** Resolves when the read models show what is recorded now. */
  async shown(): Promise<void> {
    await using owner = await Owner.connect(this.plane.database.ownerUrl);
    const number = await owner.value<string>('select max(number) from batch');
    await eventually(
      'the read models show what was recorded',
      () => owner.value<boolean>('select min(checkpoint) >= $1 from read_model', [number]),
      BUSY_MS,
    );
  }

  /** One more machine, which calls the given instance. */
  async machine(instance: Instance): Promise<HandMadeMachine> {
    return HandMadeMachine.join(await this.plane.enrolmentToken(), instance.send);
  }

  /** Says a check that stays inside of its append for some seconds; resolves, with the answer to come, once it is there. */
  async lingering(
    machine: HandMadeMachine,
    seconds: number,
    instance: Instance,
  ): Promise<{
    readonly check: { readonly checkId: string };
    readonly backend: number;
    readonly answer: Promise<Answered>;
  }> {
    await using owner = await Owner.connect(this.plane.database.ownerUrl);
    const check = machine.next();
    await owner.rows('insert into linger values ($1, $2)', [check.checkId, seconds]);
    const answer = machine.say(check, instance.send);
    let backend = 0;
    await eventually('the append is under way', async () => {
      const [inside] = await owner.rows<{ pid: number }>(
        `select pid from pg_stat_activity where datname = current_database() and wait_event = 'PgSleep'`,
      );
      backend = inside?.pid ?? 0;
      return inside !== undefined;
    });
    return { check, backend, answer };
  }

  /** How often a check is recorded. */
  async timesRecorded({ checkId }: { readonly checkId: string }): Promise<number> {
    await using owner = await Owner.connect(this.plane.database.ownerUrl);
    return await owner.value('select count(*)::integer from check_in where check_id = $1', [checkId]);
  }

  /** Starts an instance again, on its port, that has ended. */
  async startAgain(index: number): Promise<void> {
    const { running: ended, send } = this.#instance(index);
    const { port } = new URL(await originOf(ended));
    const program = resolve(import.meta.dirname, '../..', join('dist/apps/machine-api/main.js'));
    const running = await this.plane.processes.start('machine-api', process.execPath, [program], {
      env: { ...this.plane.environment, ROLLCALL_MACHINE_API_PORT: port },
      ready: /machines can check in/,
      readyWithin: BUSY_MS,
    });
    this.instances[index] = { running, send };
  }

  close(): Promise<void> {
    for (const client of this.#clients.values()) client.abandonConnections();
    return this.begun.disposeAsync();
  }

  #instance(index: number): Instance {
    const instance = this.instances[index];
    if (!instance) throw new Error(`There is no instance ${index}`);
    return instance;
  }

  #sendTo(origin: string): Send {
    const client = new PinnedClient({ origin, pins: this.plane.machineApi.pins });
    this.#clients.set(origin, client);
    return async (method, path, { credential, headers = {}, body }) => {
      const {
        status,
        header,
        body: text,
      } = await client.request({
        method: method as 'POST' | 'PUT',
        path,
        headers: {
          'content-type': 'application/json',
          ...(credential === undefined ? {} : { authorization: `Bearer ${credential}` }),
          ...headers,
        },
        ...(body === undefined ? {} : { body: Buffer.isBuffer(body) ? body : JSON.stringify(body) }),
        signal: AbortSignal.timeout(BUSY_MS),
      });
      return { status, body: JSON.parse(text) as unknown, retryAfter: header('retry-after')[0] };
    };
  }
}

const originOf = async (running: Running): Promise<string> =>
  (await running.waitFor(/"url":"([^"]+)","msg":"machines can check in"/))[1] ?? '';

import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { SystemClock } from '@rollcall/lifetimes';
import { bundled } from '../../../test/support/bundled.js';
import { Owner } from '../../../test/support/owner.js';
import { freshDatabase, type FreshDatabase } from '../../../test/support/postgres.js';
import { eventually, Processes } from '../../../test/support/processes.js';
import { TcpProxy } from '../../../test/support/tcp-proxy.js';
import { Leadership, type LeadershipOptions } from './index.js';

/** Loses nothing because a busy machine is late. */
const PATIENT = { campaignEvery: 50, pingEvery: 100, answerWithin: 5_000, idleTimeout: 10_000 };
/** For those whom nobody answers, or who do not answer. */
const IMPATIENT = { answerWithin: 1_500, idleTimeout: 3_000 };
const silent = { info: () => undefined, warn: () => undefined };

describe('leadership', () => {
  let database: FreshDatabase;
  let owner: Owner;
  const candidates: Candidate[] = [];

  beforeAll(async () => {
    database = await freshDatabase();
    owner = await Owner.connect(database.ownerUrl);
  });
  afterEach(async () => {
    await Promise.all(candidates.splice(0).map((each) => each.leave()));
  });
  afterAll(async () => {
    await owner[Symbol.asyncDispose]();
    await database.drop();
  });

  const candidate = (who: string, over: Partial<LeadershipOptions> = {}, name = 'work'): Candidate => {
    const made = new Candidate(name, {
      connectionString: database.url,
      log: silent,
      applicationName: who,
      ...PATIENT,
      ...over,
    });
    candidates.push(made);
    return made;
  };
  const leads = (who: Candidate) => eventually('it leads', () => Promise.resolve(who.atWork));
  const doesNotLead = (who: Candidate) => eventually('it does not lead', () => Promise.resolve(!who.atWork));

  it('is of one at a time, and passes on when the leader leaves, whose work has ended by then', async () => {
    const first = candidate('first');
    await leads(first);
    const second = candidate('second');
    await eventually('the second one waits', () => Promise.resolve(second.status() === 'waiting'));
    expect(first.status()).toBe('leading');
    expect(second.atWork).toBe(false);
    await first.leave();
    expect(first.atWork).toBe(false);
    await leads(second);
    expect([first.status(), second.status()]).toEqual(['unknown', 'leading']);
  });

  it('is of one per name, so that different work has different leaders', async () => {
    const both = [candidate('one', {}, 'this'), candidate('two', {}, 'that')];
    await Promise.all(both.map(leads));
    expect(both.map((each) => each.status())).toEqual(['leading', 'leading']);
  });

  it('ends with the connection: the work is told, and somebody leads again', async () => {
    const first = candidate('first');
    await leads(first);
    await owner.terminate(await owner.sessions('first work leader'));
    await eventually('it begins again', () => Promise.resolve(first.begun === 2));
    expect(first.ended).toBe(1);
  });

  it('ends when the server goes silent without closing anything', async () => {
    const { hostname: host, port } = new URL(database.url);
    await using proxy = await TcpProxy.listen({ host, port: Number(port) });
    // Before the server itself gives the session up.
    const first = candidate('first', {
      ...IMPATIENT,
      connectionString: proxy.through(database.url),
      idleTimeout: 60_000,
    });
    await leads(first);
    proxy.silence();
    await doesNotLead(first);
    expect(first.ended).toBeGreaterThanOrEqual(1);
    await first.leave();
  });

  it('is not of anybody while the database is away, and comes back with it', async () => {
    const both = [candidate('first'), candidate('second')];
    await eventually('one leads', () => Promise.resolve(both.some(({ atWork }) => atWork)));
    await owner.rows(`alter database ${await databaseName()} with connection limit 0`);
    await owner.terminate(await owner.sessions('% work leader'));
    await Promise.all(both.map(doesNotLead));
    await owner.rows(`alter database ${await databaseName()} with connection limit -1`);
    await eventually('one leads', () => Promise.resolve(both.some(({ atWork }) => atWork)));
    expect(both.filter(({ atWork }) => atWork)).toHaveLength(1);
  });

  it('is not kept by a process that is stopped, which gives its work up when it goes on', async () => {
    await using program = await bundled(
      fileURLToPath(new URL('../../../test/faults/programs/leader.ts', import.meta.url)),
    );
    await using processes = new Processes();
    const options = JSON.stringify({
      connectionString: database.url,
      applicationName: 'stopped',
      ...PATIENT,
      ...IMPATIENT,
    });
    const stopped = await processes.start('stopped', process.execPath, [program.path, options], { ready: /begun 1\n/ });
    const other = candidate('other');
    try {
      stopped.signal('SIGSTOP');
      await leads(other);
    } finally {
      stopped.signal('SIGCONT');
    }
    await stopped.waitFor(/ended 1\n/);
    expect(other.atWork).toBe(true);
    await other.leave();
    await stopped.waitFor(/begun 2\n/);
    expect(await stopped.stop()).toEqual({ code: 0, signal: null });
  });

  it('is given up by a process that did not run for a while, whatever its connection says', async () => {
    const clock = new (class extends SystemClock {
      slept = 0;
      override monotonic = () => super.monotonic() + this.slept;
    })();
    const first = candidate('first', { clock });
    await leads(first);
    clock.slept += PATIENT.idleTimeout;
    await eventually('it begins again', () => Promise.resolve(first.begun === 2));
    expect(first.ended).toBe(1);
  });

  it('ends in order while it waits, and while it works', async () => {
    const first = candidate('first');
    await leads(first);
    const second = candidate('second');
    await eventually('the second one waits', () => Promise.resolve(second.status() === 'waiting'));
    await second.leave();
    expect(second.begun).toBe(0);
    const hasty = candidate('hasty', {}, 'other work');
    await hasty.leave();
    expect(hasty.begun).toBe(0);
    first.lastSteps = () => wait(50);
    await first.leave();
    expect([first.begun, first.ended]).toEqual([1, 1]);
    await eventually('no session is left', async () => (await owner.sessions('% work leader')).length === 0);
  });

  it('is given back by work that fails, whose error reaches the caller', async () => {
    const first = candidate('first');
    first.work = () => Promise.reject(new Error('broken'));
    await expect(first.over).rejects.toThrow('broken');
    await leads(candidate('second'));
  });

  const databaseName = () => owner.value<string>('select current_database()');
});

/** Somebody who wants to lead, and counts how often it did. */
class Candidate {
  begun = 0;
  ended = 0;
  lastSteps = () => Promise.resolve();
  work = async (signal: AbortSignal): Promise<void> => {
    this.begun += 1;
    await new Promise((resolve) => signal.addEventListener('abort', resolve));
    await this.lastSteps();
    this.ended += 1;
  };
  readonly over: Promise<void>;
  readonly #leaving = new AbortController();
  readonly #leadership: Leadership;

  constructor(
    private readonly name: string,
    options: LeadershipOptions,
  ) {
    this.#leadership = new Leadership(options);
    this.over = this.#leadership.whileLeading(name, (signal) => this.work(signal), this.#leaving.signal);
    this.over.catch(() => undefined);
  }

  get atWork(): boolean {
    return this.begun > this.ended;
  }

  status() {
    return this.#leadership.status(this.name);
  }

  async leave(): Promise<void> {
    this.#leaving.abort();
    await this.over.catch(() => undefined);
  }
}

import { readFile, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import type { SentCheck } from '@rollcall/fleet-simulator';
import { decodeEnrolmentToken, encodeEnrolmentToken } from '@rollcall/wire';
import { amount, inDigits } from '../../support/amount.js';
import { Person, type Looking } from '../../support/person.js';
import { startPlane, type ProcessPlane } from '../../support/plane.js';
import { ownCluster, type OwnCluster } from '../../support/postgres.js';
import { eventually, type Running } from '../../support/processes.js';
import { Sessions } from '../../support/sessions.js';

jest.setTimeout(420_000);

const ROOT = resolve(import.meta.dirname, '../../..');
const SIMULATOR = join(ROOT, 'dist/apps/fleet-simulator/fleet-simulator.mjs');
const VERIFY = join(ROOT, 'dist/apps/verifier/rollcall-verify.mjs');

/**
 * At night, the interval is that of production. The window is as short as the interval allows: so an outage of two and a half intervals leaves most machines
 * silent for longer than a window, as five minutes do with a window of two, and only what the plane knows about its own deafness keeps them
 * present. Nothing else depends on how long it is away.
 */
const MACHINES = 5_000;
const INTERVAL = amount({ usual: 25, whole: 30 });
const TIMING = { interval: INTERVAL, windowFloor: 3 * INTERVAL, gap: 15, mark: 5 };
const OUTAGE_MS = 2_500 * TIMING.interval;
/** All are back within that time (C15). */
const BACK_WITHIN_MS = 150_000;
/**
 * How long a person waits (C15), and how long if ever the machine is busy with something else: plane, database and 5,000 machines share its
 * cores with this test, and one stalled second of them is not a person who is locked out.
 */
const [PATIENCE_MS, STALLED_MS] = [1_000, 3_000];
/** The share of calls that are answered within patience. */
const PATIENT_SHARE = 0.98;
/** The longest that a connection may be idle in a transaction (C15). */
const IDLE_IN_TRANSACTION_MS = 5_000;
/** What a database with a pool of 20 for each service has to bear (C15). */
const [SERVICES, CONNECTIONS_PER_SERVICE] = [4, 20];
/** Over which the spread of arrivals is judged (C15): everybody comes once in an interval. */
const JUDGED_MS = amount({ usual: 1_400, whole: 2_000 }) * TIMING.interval;
/** The load of a moment, in seconds: a check that a busy machine sends late is no peak. */
const MOMENT = 5;

describe(`a plane that was away while ${inDigits(MACHINES)} machines went on`, () => {
  let cluster: OwnCluster;
  let plane: ProcessPlane;
  let person: Person;

  beforeAll(async () => {
    cluster = await ownCluster();
    plane = await startPlane(TIMING, { database: cluster.database });
    person = await Person.of(plane);
  }, 120_000);
  afterAll(async () => {
    await plane.close();
  }, 60_000);

  /** A share of the machines, at one instance: a balancer in between would only cost time that nobody measures here. */
  const startFleet = async (instance: Running, name: string) => {
    const [, address = ''] = await instance.waitFor(/"url":"([^"]+)","msg":"machines can check in"/);
    const issued: string[] = [];
    while (issued.length < MACHINES / 2) {
      const some = await Promise.all(Array.from({ length: MACHINES / 10 }, () => plane.enrolmentToken()));
      issued.push(...some.map((token) => encodeEnrolmentToken({ ...decodeEnrolmentToken(token), address })));
    }
    const [answers, history] = [join(plane.directory, `${name}.answers`), join(plane.directory, `${name}.history`)];
    const running = await plane.processes.start(
      name,
      process.execPath,
      [SIMULATOR, '--as-agents', '--event-every', '0', '--answers', answers, '--history', history, '--json'],
      { input: issued.join('\n') },
    );
    return { running, answers, history };
  };
  /** The list is that of the person who looks all the while: a second reader would only be a load that nobody asked for. */
  const untilPresent = (what: string, looking: Looking, since: number, withinMs: number) =>
    eventually(
      what,
      async () =>
        looking
          .machines()
          .filter(
            ({ presence, lastCheckAt }) =>
              presence === 'present' && lastCheckAt !== null && Date.parse(lastCheckAt) > since,
          ).length === MACHINES,
      withinMs,
    );

  it('takes all of them back within 150 s, spread, without an absence, and locks no person out meanwhile (C15)', async () => {
    const fleets = await Promise.all(plane.machineApis.map((instance, index) => startFleet(instance, `fleet${index}`)));
    await Promise.all(fleets.map(({ running }) => running.waitFor(/checking in as agents do/, 120_000)));
    await using sessions = Sessions.watch(cluster.database.ownerUrl);
    const arriving = person.look();
    await untilPresent('all are present', arriving, 0, 100_000);
    await arriving.end();

    const left = Date.now();
    await plane.goAway();
    await cluster.stop();
    await wait(OUTAGE_MS);
    await cluster.start();
    await using looking = person.look();
    await plane.comeBack();
    const returned = Date.now();
    await untilPresent('all are back', looking, left, BACK_WITHIN_MS);
    await wait(Math.max(0, returned + JUDGED_MS - Date.now()));
    const { signIns, pages, failures, absent } = await looking.end();
    const { most, idleInTransaction } = await sessions.end();
    const ended = await Promise.all(fleets.map(({ running }) => running.stop('SIGINT', 20_000)));
    expect(ended).toEqual(fleets.map(() => ({ code: 0, signal: null })));

    expect(failures).toEqual([]);
    expect(signIns.length).toBeGreaterThan(10);
    const calls = [...signIns.map((ms) => ({ call: 'sign in', ms })), ...pages.map((ms) => ({ call: 'a page', ms }))];
    const slow = calls.filter(({ ms }) => ms >= PATIENCE_MS);
    expect(slow.length <= (1 - PATIENT_SHARE) * calls.length ? [] : slow).toEqual([]);
    expect(slow.filter(({ ms }) => ms >= STALLED_MS)).toEqual([]);
    expect([...absent]).toEqual([]);

    const sent = (await Promise.all(fleets.map(({ history }) => linesOf<SentCheck>(history)))).flat();
    // A refusal says when to come again, and nothing is torn but what was under way while the plane was not there.
    const wrong = sent.filter(({ at, milliseconds, status, retryAfter }) =>
      status === null
        ? at > returned || at + milliseconds < left
        : status !== 200 && !(status === 503 && retryAfter !== null),
    );
    expect(wrong).toEqual([]);
    const arrivals = sent
      .map(({ at }) => (at - returned) / 1_000)
      .filter((second) => second >= 0 && second < JUDGED_MS / 1_000);
    const perMoment = Object.values(Object.groupBy(arrivals, (second) => Math.floor(second / MOMENT))).map(
      (those) => those?.length ?? 0,
    );
    expect(arrivals.length).toBeGreaterThan(MACHINES);
    expect(Math.max(...perMoment)).toBeLessThan((3 * arrivals.length * MOMENT) / (JUDGED_MS / 1_000));

    // Read models and notices are read and written in transactions of several statements. Nobody else begins one.
    expect(Object.keys(idleInTransaction).filter((name) => !/^rollcall (read models|webhooks)$/.test(name))).toEqual(
      [],
    );
    expect(Math.max(0, ...Object.values(idleInTransaction))).toBeLessThan(IDLE_IN_TRANSACTION_MS);
    expect(most).toBeLessThan(SERVICES * CONNECTIONS_PER_SERVICE);

    const answers = join(plane.directory, 'answers.jsonl');
    await writeFile(answers, await Promise.all(fleets.map((fleet) => readFile(fleet.answers))));
    const args = [VERIFY, '--json', '--gap-seconds', String(TIMING.gap), '--answers', answers, cluster.database.url];
    const { stdout, output } = await plane.processes.run('verify', process.execPath, args);
    if (!stdout) throw new Error(output);
    const { invariants } = JSON.parse(stdout) as { readonly invariants: readonly Judged[] };
    expect(invariants.filter(({ broken }) => broken > 0)).toEqual([]);
    const accepted = sent.filter(({ status }) => status === 200).length;
    expect(invariants.find(({ id }) => id === 'I1')).toMatchObject({ examined: accepted });
  });
});

type Judged = { readonly id: string; readonly examined: number; readonly broken: number };

const linesOf = async <Line>(file: string): Promise<Line[]> =>
  (await readFile(file, 'utf8'))
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line) as Line);

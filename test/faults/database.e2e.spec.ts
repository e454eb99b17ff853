import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { chown, mkdir, readFile, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { MachineList } from '@rollcall/wire';
import { amount } from '../support/amount.js';
import { ownCluster, type OwnCluster } from '../support/own-cluster.js';
import { QUICK } from '../support/plane.js';
import { eventually } from '../support/processes.js';
import { Recording, RATE, type Instance } from '../support/recording.js';
import { fill, smallVolume } from '../support/small-volume.js';
import { expectRecorded } from './recorded.js';

const BUSY_MS = 60_000;
/** In seconds: longer than a refused machine is asked to wait, as in earnest. */
const WINDOW = 10;
/** What a hand-made machine calls itself. */
const BY_HAND = 'by hand';
const POWER_CUTS = amount({ usual: 3, whole: 10 });
const VOLUME_BYTES = 48 * 1_048_576;

jest.setTimeout(240_000);

describe(`under a load of ${RATE} checks per second, a Postgres`, () => {
  let begun: AsyncDisposableStack;
  let cluster: OwnCluster;
  let recording: Recording;
  beforeAll(async () => {
    begun = new AsyncDisposableStack();
    ({ cluster, recording } = await start(begun));
  }, 120_000);
  afterAll(() => begun.disposeAsync(), 60_000);

  it('of which one backend is killed -9 in the middle of an append, and all others with it, has each answered check once (row 19, I1, I2)', async () => {
    const instance = recording.instances[0] as Instance;
    const machine = await recording.machine(instance);
    const recorded = await recording.during(async () => {
      for (let time = 0; time < 3; time += 1) {
        const { check, backend, answer } = await recording.lingering(machine, 2.5, instance);
        process.kill(backend, 'SIGKILL');
        expect([200, 503]).toContain((await answer).status);
        await eventually(
          'it is recorded when it comes again',
          async () => (await machine.say(check)).status === 200,
          BUSY_MS,
        );
        expect(await recording.timesRecorded(check)).toBe(1);
      }
    });
    expectRecorded(recorded);
  });

  it(`that is stopped ${POWER_CUTS} times as a power cut would do it has each answered check once, in a dense record (row 20, I1, I2, I3, I4)`, async () => {
    const recorded = await recording.during(async () => {
      for (let time = 0; time < POWER_CUTS; time += 1) {
        await cluster.stop('immediate');
        await cluster.start();
        await recording.accepts(50);
      }
    });
    expectRecorded(recorded);
    const log = await readFile(join(cluster.directory, 'postgres.log'), 'utf8');
    expect(log.match(/was not properly shut down/g)?.length).toBeGreaterThanOrEqual(POWER_CUTS);
  });

  it('that is away for far longer than a silence may last makes machines come again later, and none of them absent (row 21, I14, I19)', async () => {
    expect(await recording.plane.signIn(await recording.plane.link())).toMatchObject({ code: 0 });
    /** Of those that have something to say: neither said to be stopping, nor made by hand in a test before. */
    const presences = async () => {
      const { stdout, output } = await recording.plane.cli('machines', '--json');
      if (!stdout) throw new Error(output);
      const { machines } = JSON.parse(stdout) as MachineList;
      const awake = machines.filter(({ name, lifecycle }) => name !== BY_HAND && !lifecycle?.startsWith('stop'));
      return [...new Set(awake.map(({ presence }) => presence))];
    };
    const allArePresent = async () => (await presences()).join() === 'present';
    const away: { from: number; until: number } = { from: 0, until: 0 };
    const recorded = await recording.during(async () => {
      // Nobody checked in between two tests.
      await eventually('all are present', allArePresent, BUSY_MS);
      await cluster.stop();
      away.from = Date.now();
      await eventually('nobody was heard for one and a half silences', () =>
        Promise.resolve(Date.now() - away.from > 1_500 * WINDOW),
      );
      away.until = Date.now();
      await cluster.start();
      await eventually('people are answered again', async () => (await presences()).length > 0, BUSY_MS);
      for (let look = 0; look < 5; look += 1) {
        expect(await presences()).toEqual(['present']);
        await recording.accepts(100);
      }
    });
    expectRecorded(recorded);
    // What was answered while it was away; a moment is left to answers that were on their way.
    const meanwhile = recorded.checks.filter(
      ({ at, milliseconds }) => at + milliseconds > away.from + 2_000 && at + milliseconds < away.until,
    );
    expect(meanwhile.length).toBeGreaterThan(0);
    expect(meanwhile.filter(({ status, retryAfter }) => status !== 503 || retryAfter === null)).toEqual([]);
  });
});

describe(`under a load of ${RATE} checks per second, a data volume`, () => {
  let begun: AsyncDisposableStack;
  let volume: string;
  let recording: Recording;
  beforeAll(async () => {
    begun = new AsyncDisposableStack();
    volume = await smallVolume(begun, VOLUME_BYTES);
    ({ recording } = await start(begun, (cluster) => moveTo(volume, cluster)));
  }, 120_000);
  afterAll(() => begun.disposeAsync(), 60_000);

  it('that is full makes machines come again later; when there is space again all goes on, and nothing is lost that was answered (row 25, I1)', async () => {
    const ballast = join(volume, 'ballast');
    const recorded = await recording.during(async (checks) => {
      await fill(ballast);
      const refused = () => checks.filter(({ status }) => status === 503).length;
      await eventually('checks are refused', () => Promise.resolve(refused() > 20), BUSY_MS);
      await rm(ballast);
      await recording.accepts(300);
    });
    expectRecorded(recorded);
    // It was this, and nothing else: "could not extend file".
    expect(recording.instances.map(({ running }) => running.output()).join()).toMatch(/"53100"/);
  });
});

/** Starts a plane on a server of its own. @param prepare what is done to the server before */
const start = async (
  begun: AsyncDisposableStack,
  prepare: (cluster: OwnCluster) => Promise<void> = () => Promise.resolve(),
): Promise<{ readonly cluster: OwnCluster; readonly recording: Recording }> => {
  const cluster = await ownCluster();
  begun.defer(() => cluster.database.drop());
  await prepare(cluster);
  const recording = begun.adopt(
    await Recording.start(
      { database: { ...cluster.database, drop: () => Promise.resolve() } },
      { ...QUICK, windowFloor: WINDOW },
    ),
    (started) => started.close(),
  );
  return { cluster, recording };
};

/** Puts the tables on a volume, the log of the server beside it: it is full, and the server lives. */
const moveTo = async (volume: string, cluster: OwnCluster): Promise<void> => {
  const { uid, gid } = await stat(join(cluster.directory, 'data'));
  const place = join(volume, 'tables');
  await mkdir(place, { mode: 0o700 });
  await chown(place, uid, gid);
  await cluster.query(`create tablespace small location '${place}'`, 'postgres');
  await cluster.query('alter database rollcall set tablespace small', 'postgres');
};

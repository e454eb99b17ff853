import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { LIMITS } from '@rollcall/check-schedule';
import { SystemClock, type Clock } from '@rollcall/lifetimes';
import { ManualClock } from '@rollcall/lifetimes/testing';
import { readPrivateFile, writePrivateFile } from '@rollcall/secret-file';
import { hashOf, makeSecret, type StopReasonWord } from '@rollcall/wire';
import { mkdirSync, rmSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { LocalDaemon } from '../commands/local-daemon.js';
import { until } from '../commands/until.js';
import { writeCredential } from '../installation/credential-file.js';
import { writeHomePlane } from '../installation/home-plane.js';
import { openStateDirectory, stateDirectory, type StateDirectory } from '../installation/state-directory.js';
import type { Probe } from '../probes/probe.js';
import { ScriptedProbe } from '../testing/scripted-probe.js';
import { problem, TestPlane } from '../testing/test-plane.js';
import { Daemon } from './daemon.js';

let scratch: string;
let plane: TestPlane;
let directory: StateDirectory;

beforeAll(async () => {
  scratch = await mkdtemp(join(tmpdir(), 'daemon-'));
});
afterAll(() => rm(scratch, { recursive: true, force: true }));

beforeEach(async () => {
  directory = stateDirectory({ stateDir: await mkdtemp(join(scratch, 'state-')) }, {});
  await openStateDirectory(directory);
});

/** A plane, and an installation that belongs to it. */
const atHome = async () => {
  plane = await TestPlane.start(await mkdtemp(join(scratch, 'plane-')));
  await writeHomePlane(directory.home, {
    address: plane.address,
    pins: [plane.authority.pin],
    machine: { id: 'machine-1', name: null, owner: 'person-1' },
    interval: 200,
    enrolledWith: hashOf('token'),
  });
  return plane;
};

const keyOf = (generation: number) => ({ secret: makeSecret('rcm'), generation, address: plane.address });
const takes = (...keys: readonly { secret: string }[]) => {
  plane.onCheck = ({ credential }) =>
    keys.some(({ secret }) => secret === credential)
      ? { status: 200, body: JSON.stringify(plane.answer('machine-1', plane.checks.length)) }
      : problem('credential-unknown');
};

type Started = {
  readonly drain?: () => Promise<void>;
  readonly probes?: readonly Probe[];
  readonly clock?: Clock;
};

/** A daemon in this process. */
const started = async ({ drain, probes = [], clock = new SystemClock() }: Started = {}) => {
  const lines: string[] = [];
  const write = (line: string) => void lines.push(line);
  const up = Promise.withResolvers<(reason: StopReasonWord) => void>();
  const ended = Daemon.run(
    {
      directory,
      clock,
      probes,
      portrait: { name: 'host', report: {} },
      limits: { ...LIMITS, floor: 50 },
      log: { info: write, warn: write, error: write },
      logTail: () => Buffer.from(lines.join('\n')),
      ...(drain ? { drain } : {}),
    },
    up.resolve,
  );
  const stop = await Promise.race([
    up.promise,
    ended.then((why) => Promise.reject(new Error(`The daemon did not come up: ${JSON.stringify(why)}`))),
  ]);
  return { lines, stop, ended };
};

describe('the daemon', () => {
  it('goes on checking while work is being finished, and says goodbye after it (C17)', async () => {
    await using home = await atHome();
    const key = keyOf(1);
    await writeCredential(directory.credential, key);
    takes(key);
    const work = Promise.withResolvers<void>();
    const daemon = await started({ drain: () => work.promise });
    await home.until(() => home.checks.length > 0);
    daemon.stop('signal');
    const before = home.checks.length;
    await home.until(() => home.checks.length > before + 2);
    expect(home.checks.map(({ body }) => body.said)).not.toContain('stopping');
    daemon.stop('person');
    work.resolve();
    await expect(daemon.ended).resolves.toBeNull();
    const said = home.checks.map(({ body }) => [body.said, body.reason]);
    expect(said.filter(([word]) => word === 'stopping')).toEqual([['stopping', 'signal']]);
    expect(said.at(-1)).toEqual(['stopping', 'signal']);
  });

  it('goes on checking when its disk takes nothing any more, and says so (O13)', async () => {
    await using home = await atHome();
    const key = keyOf(1);
    await writeCredential(directory.credential, key);
    takes(key);
    const answer = plane.onCheck;
    plane.onCheck = (check) => {
      // What stands under the name from the first check on cannot be replaced by a file.
      if (home.checks.length === 1) {
        rmSync(directory.home);
        mkdirSync(join(directory.home, 'occupied'), { recursive: true });
      }
      return answer(check);
    };
    const daemon = await started();
    await home.until(() => home.checks.length >= 3);
    const local = new LocalDaemon(directory);
    const saysSo = async () => (await local.status())?.problems.length === 1;
    expect(await until(new SystemClock(), 20_000, saysSo)).toBe(true);
    expect((await local.status())?.state).toBe('checking');
    expect(home.checks[2]?.body.chain).toBe('epoch.2.mac');
    daemon.stop('signal');
    await daemon.ended;
  });

  it('leaves its newest chain token for the next start at its end, and never an older one, whatever it ends in (B2)', async () => {
    await using home = await atHome();
    const key = keyOf(1);
    await writeCredential(directory.credential, key);
    takes(key);
    const run = async (meanwhile: () => Promise<unknown>) => {
      const before = home.checks.length;
      const daemon = await started();
      await home.until(() => home.checks.length >= before + 3);
      await meanwhile();
      daemon.stop('signal');
      await daemon.ended;
      return home.checks.slice(before).map(({ body }) => body.chain);
    };
    const first = await run(async () => expect(await readPrivateFile(directory.chain)).toBeNull());
    const left = (await readPrivateFile(directory.chain))?.toString().trim();
    expect(left).toBe(first.at(-1));
    // A disk that takes nothing any more: what stands under the name cannot be replaced by a file.
    const second = await run(() => mkdir(join(directory.chain, 'occupied'), { recursive: true }));
    expect(second[0]).toBe(left);
    expect((await run(() => Promise.resolve()))[0]).toBeNull();
  });

  it('leaves no chain token that it has stopped presenting (B2)', async () => {
    await using home = await atHome();
    const key = keyOf(1);
    await writeCredential(directory.credential, key);
    takes(key);
    const daemon = await started();
    await home.until(() => home.checks.length > 2);
    plane.onCheck = () => problem('unavailable');
    await new LocalDaemon(directory).reload();
    daemon.stop('signal');
    await daemon.ended;
    expect(home.checks.at(-1)?.body.chain).toBeNull();
    expect(await readPrivateFile(directory.chain)).toBeNull();
  });

  it('rotates by hand over its socket, checks in with the new key at once, and tells nobody what it is (O19, O4)', async () => {
    await using home = await atHome();
    const key = keyOf(1);
    await writeCredential(directory.credential, key);
    const daemon = await started();
    expect(await new LocalDaemon(directory).rotate()).toMatchObject({ kind: 'refused', code: 'credential-unknown' });
    home.admits(key.secret);
    const local = new LocalDaemon(directory);
    expect(await local.rotate()).toEqual({ kind: 'registered', generation: 2 });
    await home.until(() => hashOf(home.checks.at(-1)?.credential ?? '') === home.rotations[0]?.hash);
    const inPlace = async () => (await readFile(directory.credential, 'utf8')).includes('"generation":2');
    expect(await until(new SystemClock(), 20_000, inPlace)).toBe(true);
    home.wantsRotation = '2026-01-01T12:00:00.000Z';
    await home.until(() => hashOf(home.checks.at(-1)?.credential ?? '') === home.rotations[1]?.hash);
    daemon.stop('signal');
    await daemon.ended;
  });

  it('goes on checking while a probe hangs, says so, and stops without waiting for it (O13, O25)', async () => {
    await using home = await atHome();
    const key = keyOf(1);
    await writeCredential(directory.credential, key);
    takes(key);
    const hung = new ScriptedProbe('disk-full');
    hung.hangs();
    const daemon = await started({ probes: [hung] });
    await home.until(() => home.checks.some(({ body }) => body.notProbed?.includes('disk-full') === true));
    const seen = home.checks.length;
    await home.until(() => home.checks.length >= seen + 3);
    expect(home.checks.at(-1)?.body).toMatchObject({ blockers: [], notProbed: ['disk-full'] });
    expect((await new LocalDaemon(directory).status())?.readiness).toEqual({
      blockers: [],
      notProbed: [{ code: 'disk-full', sentence: 'Not known whether the disk is full: no answer within 5 s.' }],
    });
    daemon.stop('signal');
    await daemon.ended;
    expect([hung.looks, hung.underWay]).toEqual([1, 1]);
  });

  it('says that its credential is gone, and looks at once when it is given another one (O21)', async () => {
    await using home = await atHome();
    const [lost, fresh] = [keyOf(1), keyOf(2)];
    await writeCredential(directory.credential, lost);
    takes(lost, fresh);
    const clock = new ManualClock();
    const daemon = await started({ clock });
    const local = new LocalDaemon(directory);
    const isBlocked = (expected: boolean) =>
      until(new SystemClock(), 20_000, async () => {
        const blockers = (await local.status())?.readiness?.blockers.map(({ code }) => code);
        return blockers?.includes('credential-unreadable') === expected;
      });
    await home.until(() => home.checks.length > 0);
    expect(await isBlocked(false)).toBe(true);
    await rm(directory.credential);
    await clock.advance(60_000);
    expect(await isBlocked(true)).toBe(true);
    // The clock stands still from here on: no turn of a probe comes.
    await writeCredential(directory.credential, fresh);
    await local.reload();
    expect(await isBlocked(false)).toBe(true);
    expect(daemon.lines.filter((line) => line.startsWith('Blockers'))).toContainEqual(
      expect.stringContaining('credential-unreadable'),
    );
    daemon.stop('signal');
    await daemon.ended;
  });

  it('uses the good credential and removes the torn pending one (C04 a)', async () => {
    await using home = await atHome();
    const key = keyOf(3);
    await writeCredential(directory.credential, key);
    await writePrivateFile(directory.nextCredential, JSON.stringify(keyOf(4)).slice(0, 40));
    takes(key);
    const daemon = await started();
    await home.until(() => home.checks.length > 0);
    expect(home.checks[0]?.credential).toBe(key.secret);
    await expect(readPrivateFile(directory.nextCredential)).resolves.toBeNull();
    daemon.stop('signal');
    await daemon.ended;
  });

  it('checks in with the pending credential when the other is empty, and puts it in its place (C04 b)', async () => {
    await using home = await atHome();
    const key = keyOf(4);
    await writePrivateFile(directory.credential, '');
    await writeCredential(directory.nextCredential, key);
    takes(key);
    const daemon = await started();
    await home.until(() => home.checks.length > 1);
    daemon.stop('signal');
    await daemon.ended;
    expect(home.checks[0]?.body.believes).toMatchObject({ generation: 4 });
    expect(await readFile(directory.credential, 'utf8')).toContain(key.secret);
    await expect(readPrivateFile(directory.nextCredential)).resolves.toBeNull();
  });

  it('stays up without a check when no credential can be read, and touches nothing (C04 c)', async () => {
    await using home = await atHome();
    await writePrivateFile(directory.credential, Buffer.alloc(512));
    const daemon = await started();
    const status = await new LocalDaemon(directory).status();
    expect(status).toMatchObject({ running: true, state: 'credential-unreadable', checks: { sequence: 0 } });
    expect(status?.sentence).toContain('credential unreadable');
    daemon.stop('signal');
    await daemon.ended;
    expect(home.checks).toEqual([]);
    expect(home.enrolments).toEqual([]);
    expect(await readPrivateFile(directory.credential)).toEqual(Buffer.alloc(512));
  });

  it('falls back on the credential before when the pending one is not known, and keeps both (C04 d)', async () => {
    await using home = await atHome();
    const [old, pending] = [keyOf(3), keyOf(4)];
    await writeCredential(directory.credential, old);
    await writeCredential(directory.nextCredential, pending);
    takes(old);
    const daemon = await started();
    await home.until(() => home.checks.length > 2);
    daemon.stop('signal');
    await daemon.ended;
    expect(home.checks.slice(0, 2).map(({ credential }) => credential)).toEqual([pending.secret, old.secret]);
    expect(await readFile(directory.credential, 'utf8')).toContain(old.secret);
    expect(await readFile(directory.nextCredential, 'utf8')).toContain(pending.secret);
  });

  it('never shows a credential to a plane that it is not for (O5)', async () => {
    await using home = await atHome();
    await writeCredential(directory.credential, { ...keyOf(1), address: 'https://another.example' });
    const daemon = await started();
    expect((await new LocalDaemon(directory).status())?.sentence).toContain('with the same token');
    daemon.stop('signal');
    await daemon.ended;
    expect(home.checks).toEqual([]);
  });

  it('leaves nothing of a run behind but what the next one needs', async () => {
    await using home = await atHome();
    const key = keyOf(1);
    await writeCredential(directory.credential, key);
    takes(key);
    const daemon = await started();
    await home.until(() => home.checks.length > 0);
    daemon.stop('signal');
    await daemon.ended;
    await expect(new LocalDaemon(directory).status()).resolves.toBeNull();
    for (const gone of [directory.socket, directory.lock, directory.controlToken])
      await expect(readFile(gone)).rejects.toMatchObject({ code: 'ENOENT' });
  });
});

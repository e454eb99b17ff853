import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { LIMITS } from '@rollcall/check-schedule';
import { Lifetime, SystemClock } from '@rollcall/lifetimes';
import { removeTemporaries } from '@rollcall/secret-file';
import { hashOf, makeSecret } from '@rollcall/wire';
import { randomBytes, randomUUID } from 'node:crypto';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { eventually } from '../../../../test/support/processes.js';
import { CheckLoop } from '../check/check-loop.js';
import type { Key } from '../check/enrolment.js';
import { keepBoot, nextBoot } from '../installation/boot-counter.js';
import { loadKeys, readCredential, writeCredential } from '../installation/credential-file.js';
import { FileNotebook } from '../installation/file-notebook.js';
import { stateDirectory, type StateDirectory } from '../installation/state-directory.js';
import { RulesPlane, type Cut } from '../testing/rules-plane.js';
import { SettableReadiness } from '../testing/settable-readiness.js';
import { rotate, type RotationStep } from './rotate.js';
import { Rotations } from './rotations.js';

const ADDRESS = 'https://plane.example';
const SILENT = { info: () => undefined, warn: () => undefined, error: () => undefined };
const clock = new SystemClock();

let scratch: string;
let directory: StateDirectory;
let plane: RulesPlane;
let first: Key;

beforeAll(async () => {
  scratch = await mkdtemp(join(tmpdir(), 'rotation-'));
});
afterAll(() => rm(scratch, { recursive: true, force: true }));
beforeEach(async () => {
  directory = stateDirectory({ stateDir: await mkdtemp(join(scratch, 'state-')) }, {});
  first = { secret: makeSecret('rcm'), generation: 1, address: ADDRESS };
  plane = new RulesPlane(first.secret);
  await writeCredential(directory.credential, first);
});

/** A process that is killed: nothing of it happens any more. */
class Killed extends Error {}

/** The last thing that a process does: a step of the rotation, or the first success of the new key before its file is in place. */
type Death = RotationStep | 'used' | 'never';

/** A notebook of a process that dies before it can put the new key in its place. */
class ShortLived extends FileNotebook {
  override keyConfirmed(): void {}
}

/** The agent over real files, from its start to its end, without its socket. */
const living = async (death: Death = 'never') => {
  await removeTemporaries(directory.path);
  const { keys } = await loadKeys(directory);
  const boot = await nextBoot(directory.boot);
  await keepBoot(directory.boot, boot);
  const notebook = death === 'used' ? new ShortLived(directory, SILENT) : new FileNotebook(directory, SILENT);
  const lifetime = new Lifetime();
  const rotations = new Rotations({
    directory,
    clock,
    log: SILENT,
    settled: () => notebook.settled(),
    prefer: (key) => loop.prefer(key),
    reload: async () => loop.use({ ...(await enrolment()), chain: null }),
    beside: (work) => lifetime.run(work),
  });
  const newBootId = () => randomBytes(4).toString('hex');
  const loop = new CheckLoop({
    clock,
    notebook,
    readiness: new SettableReadiness(),
    portrait: { name: 'host', report: { hostname: 'host', agentVersion: '1', platform: 'linux', arch: 'x64' } },
    boot: { counter: boot, id: newBootId() },
    limits: { ...LIMITS, floor: 2 },
    log: SILENT,
    chance: () => 0.5,
    newCheckId: randomUUID,
    newBootId,
    onAsked: (asked) => rotations.heard(asked),
  });
  const enrolment = async () => ({
    plane,
    keys: (await loadKeys(directory)).keys,
    chain: null,
    interval: 20,
    machine: null,
  });
  lifetime.run((signal) => loop.run(signal));
  loop.use({ plane, keys, chain: null, interval: 20, machine: null });
  return {
    loop,
    rotations,
    /** Nothing more is written, nothing more is said. */
    end: async () => {
      await lifetime.end();
      await notebook.settled();
    },
  };
};

const checkedInWith = (generation: number) =>
  eventually(`generation ${generation} is the current one`, () => Promise.resolve(plane.current === generation));

/** Begins a rotation in a process that dies at a step. */
const begun = async (death: RotationStep): Promise<void> => {
  const reached = (step: RotationStep) => {
    if (step === death) throw new Killed();
  };
  const { signal } = new AbortController();
  await rotate({ directory, plane, inUse: first, clock, signal, reached }).catch((error: unknown) => {
    if (!(error instanceof Killed)) throw error;
  });
};

const fileOf = async (path: string) => {
  const reading = await readCredential(path);
  return reading.state === 'whole' ? reading.key : null;
};

/** Everything that must hold at the end: one key in one file, which is the current one, and no more than two that are accepted. */
const allIsWell = async (generation: number) => {
  await eventually('the new credential is in its place', async () => {
    const live = await fileOf(directory.credential);
    return live?.generation === generation && (await fileOf(directory.nextCredential)) === null;
  });
  expect(plane.accepted).toBe(1);
  const checks = plane.stream.facts.filter((fact) => fact.type === 'CheckedIn').length;
  await eventually('it goes on checking in', () =>
    Promise.resolve(plane.stream.facts.filter((fact) => fact.type === 'CheckedIn').length > checks + 1),
  );
};

describe('a rotation that is cut off anywhere ends with the next start checking in (O19, C04)', () => {
  const CRASHES: [string, RotationStep, Partial<Record<'rotation' | 'check', Cut>>][] = [
    ['the next secret is kept, nothing was sent', 'stored', {}],
    ['the request is lost on the way', 'numbered', { rotation: 'request' }],
    ['it is registered, its answer is lost', 'numbered', { rotation: 'answer' }],
    ['it is registered, and answered', 'registered', {}],
    ['its number is kept', 'numbered', {}],
    ['the same, and the first check with it is lost', 'numbered', { check: 'request' }],
    ['the same, and the answer to the first check with it is lost', 'numbered', { check: 'answer' }],
  ];

  it.each(CRASHES.flatMap((crash) => [1, 3].map((restarts) => [...crash, restarts] as const)))(
    'when %s (step %s, cuts %j, %i starts)',
    async (_what, death, cuts, restarts) => {
      await (await settledLife()).end();
      plane.cuts.rotation = cuts.rotation ?? null;
      await begun(death);
      expect(plane.accepted).toBeLessThanOrEqual(2);
      for (let start = 1; start < restarts; start += 1) await (await living()).end();
      plane.cuts.check = cuts.check ?? null;
      const agent = await living();
      await checkedInWith(2);
      await allIsWell(2);
      await agent.end();
    },
    20_000,
  );

  it('when the new key has succeeded and is not in its place yet', async () => {
    const dying = await living('used');
    await eventually('it checks in', () => Promise.resolve(plane.current === 1));
    await dying.rotations.begin(plane, first);
    await checkedInWith(2);
    await dying.end();
    expect((await fileOf(directory.credential))?.generation).toBe(1);
    const agent = await living();
    await allIsWell(2);
    await agent.end();
  });

  it('when a stale copy of the next key was left beside the one in its place', async () => {
    const agent = await living();
    await eventually('it checks in', () => Promise.resolve(plane.current === 1));
    await agent.rotations.begin(plane, first);
    await checkedInWith(2);
    await allIsWell(2);
    await agent.end();
    const live = (await fileOf(directory.credential)) as Key;
    await writeCredential(directory.nextCredential, live);
    const after = await living();
    await after.rotations.begin(plane, live);
    await checkedInWith(3);
    await allIsWell(3);
    await after.end();
    expect((await fileOf(directory.credential))?.secret).not.toBe(live.secret);
  });

  it('when the plane has voided it meanwhile: then it takes another one', async () => {
    await (await settledLife()).end();
    await begun('numbered');
    const late = await fileOf(directory.nextCredential);
    plane.stream.now += 8 * 86_400_000;
    const agent = await living();
    await checkedInWith(3);
    await allIsWell(3);
    await agent.end();
    expect((await fileOf(directory.credential))?.secret).not.toBe(late?.secret);
  });
});

/** An agent that has checked in with its first key. */
const settledLife = async () => {
  const agent = await living();
  await checkedInWith(1);
  return agent;
};

it('rotates when an answer asks for it, and not again when it was done (O19)', async () => {
  const agent = await settledLife();
  plane.stream.do({ type: 'RequestRotation' });
  await checkedInWith(2);
  await allIsWell(2);
  expect(plane.stream.facts.filter(({ type }) => type === 'GenerationRegistered')).toHaveLength(2);
  await agent.end();
});

it('goes on with the key in use where the next one cannot be kept, says so, and rotates when it can again (O19, I11)', async () => {
  const agent = await settledLife();
  // What a full or broken disk does to one name.
  await mkdir(directory.nextCredential);
  await writeFile(join(directory.nextCredential, 'in the way'), '');
  const end = await agent.rotations.begin(plane, first);
  expect(end.kind).toBe('not-stored');
  expect(agent.rotations.problem).toMatch('cannot be kept');
  expect(plane.registered.size).toBe(1);
  const { length } = plane.stream.facts;
  await eventually('it goes on checking in', () => Promise.resolve(plane.stream.facts.length > length + 2));
  await rm(directory.nextCredential, { recursive: true });
  expect((await agent.rotations.begin(plane, first)).kind).toBe('registered');
  expect(agent.rotations.problem).toBeNull();
  await checkedInWith(2);
  await allIsWell(2);
  await agent.end();
});

/** What a disk does to the writes of a rotation, one after the other: how it fails, and whether the content is in place all the same. */
type Failures = readonly ({ readonly code: 'ENOSPC' | 'EIO'; readonly isInPlace: boolean } | null)[];

it.each<[string, Failures, 'not-stored' | 'registered']>([
  ['is full', [{ code: 'ENOSPC', isInPlace: false }], 'not-stored'],
  ['fails before the next secret is in place', [{ code: 'EIO', isInPlace: false }], 'not-stored'],
  ['fails after it was put in place', [{ code: 'EIO', isInPlace: true }], 'not-stored'],
  ['is full when the number is to be kept', [null, { code: 'ENOSPC', isInPlace: false }], 'registered'],
  ['fails when the number is to be kept', [null, { code: 'EIO', isInPlace: false }], 'registered'],
])(
  'registers nothing that a start would not find where the disk %s, and goes on with what it finds when there is room (row 41, O19, I11)',
  async (_, failures, kind) => {
    await (await settledLife()).end();
    // One that was voided before: so the plane gives the next one another number than the agent guesses.
    plane.stream.do({ type: 'StartRotation', keyHash: hashOf(first.secret), nextKeyHash: hashOf(makeSecret('rcm')) });
    const left = [...failures];
    const store = async (path: string, key: Key): Promise<void> => {
      const failure = left.shift() ?? null;
      if (failure === null || failure.isInPlace) await writeCredential(path, key);
      if (failure) throw Object.assign(new Error(`${failure.code}: the disk`), { code: failure.code });
    };
    const { signal } = new AbortController();
    const registered = plane.registered.size;
    const end = await rotate({ directory, plane, inUse: first, clock, signal, store });
    expect(end.kind).toBe(kind);
    expect(left).toEqual([]);
    expect(plane.registered.size).toBe(registered + (kind === 'registered' ? 1 : 0));
    expect(await fileOf(directory.credential)).toEqual(first);
    const found = await fileOf(directory.nextCredential);
    expect(found !== null).toBe(kind === 'registered' || failures.some((failure) => failure?.isInPlace));

    expect((await rotate({ directory, plane, inUse: first, clock, signal })).kind).toBe('registered');
    if (found) expect((await fileOf(directory.nextCredential))?.secret).toBe(found.secret);
    const agent = await living();
    await checkedInWith(3);
    await allIsWell(3);
    await agent.end();
  },
);

it('takes a disk on which it cannot even write its lock for one that cannot keep the next secret (row 41, O21)', async () => {
  await (await settledLife()).end();
  const { signal } = new AbortController();
  const broken = { ...directory, rotationLock: join(directory.path, 'nowhere', 'rotation.lock') };
  const end = await rotate({ directory: broken, plane, inUse: first, clock, signal });
  expect(end).toEqual({ kind: 'not-stored', why: expect.stringContaining('ENOENT') });
  expect(plane.registered.size).toBe(1);
});

it('changes nothing when the plane refuses, or something else answers (O20)', async () => {
  await (await settledLife()).end();
  plane.stream.do({ type: 'DeleteMachine' });
  const { signal } = new AbortController();
  const end = await rotate({ directory, plane, inUse: first, clock, signal });
  expect(end).toEqual({ kind: 'refused', code: 'credential-revoked' });
  expect(await fileOf(directory.credential)).toEqual(first);
});

it('lets eight callers at once register one hash, of whom three get no answer, and none touches what is newer (C05)', async () => {
  await (await settledLife()).end();
  const { signal } = new AbortController();
  let calls = 0;
  const original = plane.startRotation.bind(plane);
  plane.startRotation = (request, credential) => {
    calls += 1;
    if ([2, 5, 6].includes(calls)) plane.cuts.rotation = 'answer';
    return original(request, credential);
  };
  const ends = await Promise.all(
    Array.from({ length: 8 }, () => rotate({ directory, plane, inUse: first, clock, signal })),
  );
  expect(ends.map(({ kind }) => kind).toSorted()).toEqual([
    ...Array.from({ length: 3 }, () => 'lost'),
    ...Array.from({ length: 5 }, () => 'registered'),
  ]);
  expect(plane.registered.size).toBe(2);
  expect(plane.accepted).toBe(2);
  const agent = await living();
  await checkedInWith(2);
  await allIsWell(2);
  await agent.end();
  // One that still holds what it read before finds the newer one, and lets it be.
  expect((await rotate({ directory, plane, inUse: first, clock, signal })).kind).toBe('overtaken');
  expect((await fileOf(directory.credential))?.generation).toBe(2);
});

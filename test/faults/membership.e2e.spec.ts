import { afterAll, beforeAll, expect, it, jest } from '@jest/globals';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { code, userCodeKey } from '@rollcall/admission';
import { EXIT } from '@rollcall/agent';
import { refusalsStream } from '@rollcall/machine';
import { hashOf } from '@rollcall/wire';
import { Installation } from '../support/installation.js';
import { MachineApis, PERSON } from '../support/machine-apis.js';
import { eventually, type Running } from '../support/processes.js';
import { CHECK } from './rotation-points.js';

jest.setTimeout(120_000);

const ENROLMENTS = '/v1/enrolments';
const PICKUP = '/v1/codes/redeem';

let apis: MachineApis;
let pickups: Promise<unknown>;
beforeAll(async () => {
  apis = await MachineApis.start(1);
  // A code is asked about every five seconds: these wait beside everything else.
  pickups = Promise.all([lostPickup(), interruptedPickup()]);
  pickups.catch(() => undefined);
}, 120_000);
afterAll(() => apis[Symbol.asyncDispose](), 60_000);

const identifierOf = async ({ path }: Installation) => (await readFile(join(path, 'identifier'), 'utf8')).trim();

/** The machines that were ever admitted under the identifier of an installation. */
const admittedAs = async (installation: Installation): Promise<string[]> => {
  const hash = hashOf(await identifierOf(installation));
  const facts = (await apis.store.readBatches(0n, 10_000)).flatMap((batch) => batch.facts);
  return facts.flatMap((fact) =>
    fact.kind === 'event' && fact.event.type === 'MachineAdmitted' && fact.event['identifierHash'] === hash
      ? [fact.stream]
      : [],
  );
};

const approve = (userCode: string) =>
  apis.store.decide(
    code,
    { claim: userCodeKey(hashOf(userCode)) },
    { type: 'ApproveCode', owner: PERSON.id, name: null },
    { actor: PERSON },
  );

/** Begins to join by a code; resolves to the process that waits, and the code that it shows. */
const showsCode = async (installation: Installation): Promise<{ waiting: Running; shown: string }> => {
  const waiting = await installation.begin('enrol', ['--code', installation.door.url, '--pin', apis.pin]);
  const [, shown = ''] = await waiting.waitFor(/Code: (\S+)/);
  return { waiting, shown };
};

const checksIn = async (installation: Installation): Promise<Running> => {
  const since = installation.door.accepted.length;
  const agent = await installation.run();
  await eventually('it checks in', () =>
    Promise.resolve(installation.door.accepted.slice(since).some(({ path }) => path === CHECK)),
  );
  return agent;
};

/** Loses the first answer to a call; resolves when that has happened. */
const losesAnswer = (installation: Installation, path: string, meanwhile: () => void = () => undefined) =>
  new Promise<void>((resolve) => {
    installation.door.leaves = (call, { status }) => {
      if (call.path !== path || status >= 300) return true;
      installation.door.letPass();
      meanwhile();
      resolve();
      return false;
    };
  });

const lostPickup = async () => {
  const installation = await Installation.make(apis, 'lost-pickup');
  const { waiting, shown } = await showsCode(installation);
  const lost = losesAnswer(installation, PICKUP);
  await approve(shown);
  await lost;
  const admitted = await admittedAs(installation);
  const { code: ended } = await waiting.exited;
  const agent = await checksIn(installation);
  await agent.stop();
  return { ended, admitted, afterwards: await admittedAs(installation) };
};

const interruptedPickup = async () => {
  const installation = await Installation.make(apis, 'interrupted-pickup');
  const { waiting, shown } = await showsCode(installation);
  const lost = losesAnswer(installation, PICKUP, () => waiting.signal('SIGINT'));
  await approve(shown);
  await lost;
  const { code: interrupted } = await waiting.exited;
  const between = await readdir(installation.path);
  const again = await installation.command('enrol', ['--code', installation.door.url, '--pin', apis.pin]);
  const agent = await checksIn(installation);
  await agent.stop();
  return { interrupted, between, ended: again.code, output: again.stdout, admitted: await admittedAs(installation) };
};

it('an enrolment whose answer was lost ends, with the same token again, in one machine that works (N20, U9)', async () => {
  const installation = await Installation.make(apis, 'lost-enrolment');
  const token = await apis.token(installation.door);
  const lost = losesAnswer(installation, ENROLMENTS);
  expect(await installation.enrol(token)).toMatchObject({ code: EXIT.unreachable });
  await lost;
  const admitted = await admittedAs(installation);
  expect(await installation.enrol(token)).toMatchObject({ code: EXIT.ok });
  await (await checksIn(installation)).stop();
  expect(await admittedAs(installation)).toEqual(admitted);
  expect(admitted).toEqual([`machine-${installation.machineId}`]);
});

it('an installation that is interrupted while it shows a code has joined nothing; the code lets in nobody any more, and its next run shows another one (O12, C08)', async () => {
  const installation = await Installation.make(apis, 'interrupted');
  const { waiting, shown } = await showsCode(installation);
  waiting.signal('SIGINT');
  expect(await waiting.exited).toEqual({ code: EXIT.unreachable, signal: null });
  expect(waiting.output()).toContain('Interrupted');
  // The secret that was made for this attempt, which nobody knows; no credential, and no plane.
  expect((await readdir(installation.path)).toSorted()).toEqual(['enrolling', 'identifier']);
  expect(await installation.status()).toMatchObject({ running: false, state: 'not-enrolled' });
  // A person who has not heard of it: there is nobody to pick it up.
  await approve(shown);
  const again = await showsCode(installation);
  expect(again.shown).not.toBe(shown);
  again.waiting.signal('SIGINT');
  await again.waiting.exited;
  expect(await admittedAs(installation)).toEqual([]);
});

it('an agent whose machine is deleted makes at most one more check, stops asking, says what a person can do, and goes on when that was done (C09, O20, O31, B7)', async () => {
  const [installation, other] = await Promise.all(['deleted', 'other'].map((name) => Installation.joined(apis, name)));
  if (!installation || !other) throw new Error('Two have joined');
  const { door, machineId } = installation;
  const agent = await checksIn(installation);
  const living = await checksIn(other);
  /** Long enough for several checks: another machine has made them. */
  const severalIntervals = async () => {
    const until = other.door.accepted.length + 3;
    await eventually('another one has checked in', () => Promise.resolve(other.door.accepted.length >= until));
  };

  // The deletion overtakes a check that is under way.
  const inside = Promise.withResolvers<void>();
  const release = Promise.withResolvers<boolean>();
  door.arrives = () => {
    inside.resolve();
    return release.promise;
  };
  await inside.promise;
  const before = await installation.kept();
  await apis.byPerson(machineId, { type: 'DeleteMachine' });
  const { length } = door.calls;
  door.letPass();
  release.resolve(true);
  await agent.waitFor(/This machine was deleted at the plane.*rollcall-agent enrol/);
  await severalIntervals();
  expect(door.calls).toHaveLength(length);
  expect(await installation.status()).toMatchObject({ running: true, state: 'waiting-for-person' });
  expect(await installation.command('status')).toMatchObject({
    code: EXIT.deleted,
    stdout: expect.stringContaining('get a new token there and give it to "rollcall-agent enrol"'),
  });

  // Another start finds it out by one check, and waits as well.
  await agent.stop();
  expect(door.calls).toHaveLength(length);
  const again = await installation.run();
  await again.waitFor(/This machine was deleted at the plane/);
  await severalIntervals();
  expect(door.calls).toHaveLength(length + 1);
  expect(await installation.kept()).toEqual(before);

  const refused = await apis.store.readStream(refusalsStream(machineId));
  expect(refused).toEqual([
    expect.objectContaining({ event: expect.objectContaining({ code: 'credential-revoked' }) }),
  ]);
  const [last] = (await apis.store.readStream(`machine-${machineId}`)).slice(-1);
  expect(last).toMatchObject({ kind: 'event', event: { type: 'MachineDeleted' } });

  const since = door.accepted.length;
  expect(await installation.enrol()).toMatchObject({ code: EXIT.ok });
  expect(installation.machineId).not.toBe(machineId);
  await eventually('it checks in as the new machine', () =>
    Promise.resolve(door.accepted.slice(since).some(({ path }) => path === CHECK)),
  );
  await Promise.all([again.stop(), living.stop()]);
});

it('a pickup whose answer was lost ends in one machine that works: in the run that waits, and in the next one where that was interrupted (O12, C08)', async () => {
  const one = [expect.stringMatching(/^machine-/)];
  expect(await pickups).toEqual([
    { ended: EXIT.ok, admitted: one, afterwards: one },
    {
      interrupted: EXIT.unreachable,
      between: expect.not.arrayContaining(['credential']),
      ended: EXIT.ok,
      output: expect.not.stringContaining('Code:'),
      admitted: one,
    },
  ]);
});

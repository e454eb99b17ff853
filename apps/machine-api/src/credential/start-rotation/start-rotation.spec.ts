import { afterAll, beforeAll, expect, it } from '@jest/globals';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { InMemoryEventStore } from '@rollcall/event-store/testing';
import { machineStream, refusalsStream } from '@rollcall/machine';
import { makeSecret } from '@rollcall/wire';
import { randomUUID } from 'node:crypto';
import {
  check,
  checkBody,
  deleteMachine,
  enrol,
  instanceOn,
  issueToken,
  newInstallation,
  requestRotation,
  startRotation,
  upload,
} from '../../testing/plane.js';

let now = Date.UTC(2026, 0, 1, 12);
const DAY = 86_400_000;

// One plane of two instances; each test brings its own machine.
const store = new InMemoryEventStore({ now: () => now });
let app: NestFastifyApplication;
let second: NestFastifyApplication;
let yearly: NestFastifyApplication;
beforeAll(async () => {
  app = await instanceOn(store);
  second = await instanceOn(store);
  yearly = await instanceOn(store, { rotation: { afterDays: 365, since: 0 } });
});
afterAll(async () => {
  await Promise.all([app.close(), second.close(), yearly.close()]);
  await store.close();
});

/** An installation that checks in with any of its credentials. */
const admitted = async (identifier: string = randomUUID()) => {
  const { credential: first } = newInstallation();
  const { body } = await enrol(app, await issueToken(store), { identifier, credential: first });
  const { id } = body.machine;
  let sequence = 0;
  const checkWith = (credential: string, on = app) =>
    check(on, credential, checkBody({ sequence: (sequence += 1), checkId: randomUUID() }));
  await checkWith(first);
  const facts = async (stream = machineStream(id)) =>
    (await store.readStream(stream)).flatMap((fact) => (fact.kind === 'event' ? [fact.event] : []));
  return { id, identifier, first, checkWith, facts };
};
type Admitted = Awaited<ReturnType<typeof admitted>>;

/** The next generation, registered and used. */
const rotated = async ({ checkWith }: Admitted, from: string): Promise<string> => {
  const next = makeSecret('rcm');
  await startRotation(app, from, next);
  await checkWith(next);
  return next;
};

it('registers the next generation; the old one checks in until the new one has succeeded once, on every instance (O19)', async () => {
  const { first, checkWith } = await admitted();
  const next = makeSecret('rcm');
  expect(await startRotation(app, first, next)).toMatchObject({ status: 200, body: { generation: 2 } });
  expect((await checkWith(first, second)).body.machine.generation).toBe(1);
  expect((await checkWith(next, second)).body.machine.generation).toBe(2);
  expect(await checkWith(first)).toMatchObject({ status: 401, body: { code: 'generation-behind' } });
});

it('answers the same hash with the same generation, also twice at once on two instances, and an older generation never (O19)', async () => {
  const { first, checkWith, facts } = await admitted();
  const next = makeSecret('rcm');
  const answers = await Promise.all([app, second, app, second].map((on) => startRotation(on, first, next)));
  expect(answers.map(({ body }) => body.generation)).toEqual([2, 2, 2, 2]);
  expect((await facts()).filter(({ type }) => type === 'GenerationRegistered')).toHaveLength(2);
  await checkWith(next);
  expect((await startRotation(app, next, next)).body.generation).toBe(2);
  expect(await startRotation(second, first, makeSecret('rcm'))).toMatchObject({
    status: 401,
    body: { code: 'generation-behind' },
  });
});

it('lets no hash come to life again: one that was retired, replaced, or is another machine’s (O19, C06)', async () => {
  const one = await admitted();
  const other = await admitted();
  const [replaced, pending] = [makeSecret('rcm'), makeSecret('rcm')];
  const current = await rotated(one, one.first);
  await startRotation(app, current, replaced);
  await startRotation(app, current, pending);
  for (const known of [one.first, replaced, other.first])
    expect(await startRotation(second, current, known)).toMatchObject({
      status: 409,
      body: { code: 'hash-registered-before' },
    });
  expect((await one.checkWith(pending)).body.machine.generation).toBe(4);
  expect((await other.checkWith(other.first)).status).toBe(200);
});

it('takes no generation that was not used for seven days, and goes on with the current one (O19)', async () => {
  const { first, checkWith, facts } = await admitted();
  const late = makeSecret('rcm');
  await startRotation(app, first, late);
  now += 7 * DAY + 1;
  // A check may rest on the time that its instance heard last, and this one was idle for a week.
  await admitted();
  expect((await checkWith(late)).body.code).toBe('generation-behind');
  expect((await checkWith(first)).status).toBe(200);
  expect((await facts()).at(-1)).toEqual({ type: 'PendingVoided', generation: 2 });
  expect((await startRotation(app, first, late)).body.code).toBe('hash-registered-before');
  expect((await startRotation(app, first, makeSecret('rcm'))).body.generation).toBe(3);
});

it('asks for a rotation on each answer until a newer generation has succeeded, by a person’s word (O19)', async () => {
  const { id, first, checkWith } = await admitted();
  const asked = async (credential: string) => (await checkWith(credential, second)).body.requests.rotate;
  expect(await asked(first)).toBeNull();
  const stamp = await requestRotation(store, id);
  expect([await asked(first), await asked(first)]).toEqual([stamp, stamp]);
  const next = makeSecret('rcm');
  await startRotation(app, first, next);
  expect(await asked(first)).toBe(stamp);
  expect(await asked(next)).toBeNull();
});

it('asks for a rotation by age, and takes the old key of a node that was away all the same (N26)', async () => {
  const { first, checkWith } = await admitted();
  now += 400 * DAY;
  const answer = await checkWith(first, yearly);
  expect(answer.status).toBe(200);
  expect(answer.body.requests.rotate).toEqual(expect.stringMatching(/^\d{4}-/));
  expect((await checkWith(first, app)).body.requests.rotate).toBeNull();
});

it.each([
  ['no hash', {}],
  ['a hash in capitals', { credentialHash: 'A'.repeat(64) }],
])('refuses %s', async (_, body) => {
  const { first } = await admitted();
  const answer = await app.inject({
    method: 'POST',
    url: '/v1/credential/rotations',
    payload: body,
    headers: { authorization: `Bearer ${first}` },
  });
  expect([answer.statusCode, answer.json<{ code: string }>().code]).toEqual([422, 'invalid-body']);
});

it('calls every generation of a deleted machine revoked, whatever it asks for, and its successor notices nothing (C06, O31, I9)', async () => {
  const gone = await admitted();
  const generations = [gone.first];
  generations.push(await rotated(gone, gone.first));
  generations.push(await rotated(gone, generations[1] ?? ''));
  await deleteMachine(store, gone.id);
  const successor = await admitted(gone.identifier);
  const [before, after] = [await gone.facts(), await successor.facts()];
  for (const credential of generations)
    for (const answer of [
      await gone.checkWith(credential),
      await startRotation(app, credential, makeSecret('rcm')),
      await upload(app, credential, '2026-01-01T12:00:00.000Z'),
    ])
      expect([answer.status, answer.body.code]).toEqual([410, 'credential-revoked']);
  expect([await gone.facts(), await successor.facts()]).toEqual([before, after]);
  // Equal numbers are of no help: a credential is compared by its hash alone.
  expect((await successor.checkWith(successor.first)).body.machine).toMatchObject({ id: successor.id, generation: 1 });
});

it('records the last accepted and the first refused use, and the lag between, beside the history of a deleted machine (B7)', async () => {
  const { id, first, checkWith, facts } = await admitted();
  const lastAcceptedAt = new Date(now).toISOString();
  now += 5_000;
  await deleteMachine(store, id);
  now += 20_000;
  const refusedAt = new Date(now).toISOString();
  await checkWith(first);
  now += 1_000;
  await checkWith(first, second);
  await upload(second, first, lastAcceptedAt);
  const [refused, ...more] = await facts(refusalsStream(id));
  expect(refused).toMatchObject({
    type: 'CredentialRefused',
    machine: id,
    code: 'credential-revoked',
    generation: 1,
    lastAcceptedAt,
    refusedAt,
  });
  expect(more).toEqual([]);
  expect((await store.readStream(refusalsStream(id)))[0]).toMatchObject({
    actor: { kind: 'plane', id: 'machine-api' },
  });
  expect((await facts()).at(-1)?.type).toBe('MachineDeleted');
});

it('records refused uses of a generation that was cut, at most one an hour, and the first after the deletion all the same (B7)', async () => {
  const machine = await admitted();
  await rotated(machine, machine.first);
  const recorded = async () => (await machine.facts(refusalsStream(machine.id))).map(({ code }) => code);
  for (let minute = 0; minute < 3; minute += 1) {
    await machine.checkWith(machine.first, minute % 2 === 0 ? app : second);
    await startRotation(app, machine.first, makeSecret('rcm'));
    now += 60_000;
  }
  expect(await recorded()).toEqual(['generation-behind']);
  await deleteMachine(store, machine.id);
  await machine.checkWith(machine.first);
  expect(await recorded()).toEqual(['generation-behind', 'credential-revoked']);
});

it('records the first refused use of each generation that was in use last, whichever of them is used first (B7, U4)', async () => {
  const machine = await admitted();
  const generations = [machine.first];
  for (let turn = 0; turn < 3; turn += 1) generations.push(await rotated(machine, generations.at(-1) ?? ''));
  await deleteMachine(store, machine.id);
  for (const credential of [...generations, ...generations]) await machine.checkWith(credential);
  const recorded = await machine.facts(refusalsStream(machine.id));
  // The first two are too old to have a number, and count as one.
  expect(recorded.map(({ generation }) => generation)).toEqual([null, 3, 4]);
});

import { afterAll, beforeAll, expect, it } from '@jest/globals';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { token, tokenStream } from '@rollcall/admission';
import { InMemoryEventStore } from '@rollcall/event-store/testing';
import { machine, machineStream } from '@rollcall/machine';
import { hashOf, makeSecret } from '@rollcall/wire';
import {
  check,
  checkBody,
  deleteMachine,
  enrol,
  instanceOn,
  issueToken,
  joinPreadmitted,
  newInstallation,
  OWNER,
  preadmit,
  removeOwner,
  rotate,
} from '../../testing/plane.js';

let now = Date.UTC(2026, 0, 1, 12);
const store = new InMemoryEventStore({ now: () => now });
let apps: readonly NestFastifyApplication[];
const on = (index: number): NestFastifyApplication => apps[index % apps.length]!;
beforeAll(async () => {
  apps = await Promise.all([instanceOn(store), instanceOn(store), instanceOn(store)]);
});
afterAll(async () => {
  await Promise.all(apps.map((app) => app.close()));
  await store.close();
});

const factsOf = (id: string) => store.readStream(machineStream(id));

it('admits the machine that brings a credential which a person registered, on that person’s word, and says by which way (O3, U4)', async () => {
  const installation = newInstallation();
  await preadmit(store, installation, { name: 'hut' });
  expect((await check(on(0), installation.credential)).body.code).toBe('credential-unknown');
  const { status, body } = await joinPreadmitted(on(0), installation);
  expect([status, body.machine]).toEqual([201, { id: expect.any(String), name: 'hut', owner: OWNER }]);
  const [admission] = await factsOf(body.machine.id);
  expect(admission).toMatchObject({ actor: { kind: 'person', id: OWNER }, event: { via: 'preadmission' } });
  expect((await check(on(1), installation.credential)).body.machine).toMatchObject({ name: 'hut', generation: 1 });
});

it('admits one machine of any number that bring the credential at once, and answers the same one again after a lost answer (C07, N20)', async () => {
  const installation = newInstallation();
  await preadmit(store, installation);
  const answers = await Promise.all(Array.from({ length: 12 }, (_, index) => joinPreadmitted(on(index), installation)));
  expect(answers.filter(({ status }) => status === 201)).toHaveLength(1);
  const ids = new Set(answers.map(({ body }) => body.machine.id));
  expect(ids.size).toBe(1);
  now += 86_400_000;
  expect((await joinPreadmitted(on(0), installation)).body.machine.id).toBe([...ids][0]);
});

it('refuses in the same words what nobody registered, what is over or deleted, and what was registered as a token (N20, O5)', async () => {
  const over = newInstallation();
  await preadmit(store, over);
  const gone = newInstallation();
  await preadmit(store, gone);
  await deleteMachine(store, (await joinPreadmitted(on(0), gone)).body.machine.id);
  now += 900_000;
  const refused = [
    await joinPreadmitted(on(0), newInstallation()),
    await joinPreadmitted(on(0), over),
    await joinPreadmitted(on(0), gone),
    await joinPreadmitted(on(0), { ...newInstallation(), credential: await issueToken(store) }),
  ];
  expect(refused.map(({ body }) => body.code)).toEqual([
    'token-refused',
    'token-refused',
    'token-refused',
    'credential-unknown',
  ]);
  // Registered as a token, whatever it looks like: it opens the other door only.
  const asToken = newInstallation();
  const issue = {
    type: 'IssueToken',
    tokenHash: hashOf(asToken.credential),
    owner: OWNER,
    name: null,
    expiresIn: 900,
  } as const;
  await store.decide(token, { stream: tokenStream('as-token') }, issue, { actor: { kind: 'person', id: OWNER } });
  expect((await joinPreadmitted(on(0), asToken)).body.code).toBe('token-refused');
  const unused = newInstallation();
  await preadmit(store, unused);
  expect((await enrol(on(0), unused.credential, newInstallation())).body.code).toBe('token-refused');
});

it('does not answer with the machine whoever keeps a credential that was retired since (O19)', async () => {
  const installation = newInstallation();
  await preadmit(store, installation);
  const { id } = (await joinPreadmitted(on(0), installation)).body.machine;
  await check(on(0), installation.credential);
  const next = makeSecret('rcm');
  await rotate(store, id, installation.credential, next);
  expect((await joinPreadmitted(on(0), installation)).status).toBe(200);
  await check(on(0), next, checkBody({ boot: { counter: 2, id: '0000000b' } }));
  expect((await joinPreadmitted(on(0), installation)).body.code).toBe('token-refused');
});

it('gives a node its next machine, with its name (N19)', async () => {
  const first = newInstallation();
  await preadmit(store, first, { name: 'hut' });
  const { id } = (await joinPreadmitted(on(0), first)).body.machine;
  const node = (await store.view(machine, { stream: machineStream(id) }))!.state.enrolment!.nodeId;
  await deleteMachine(store, id);
  const next = newInstallation();
  await preadmit(store, next, { node });
  expect((await joinPreadmitted(on(0), next)).body.machine.name).toBe('hut');
});

it('tells an identifier in use only to whoever has a credential that still counts, and does not use it up (O18, C03)', async () => {
  const first = newInstallation();
  const { id } = (await enrol(on(0), await issueToken(store), first)).body.machine;
  const copy = { ...newInstallation(), identifier: first.identifier };
  await preadmit(store, copy);
  expect((await joinPreadmitted(on(0), copy)).body.code).toBe('identifier-in-use');
  expect((await factsOf(id)).at(-1)).toMatchObject({ event: { type: 'ClaimRefused' } });
  await deleteMachine(store, id);
  expect((await joinPreadmitted(on(0), copy)).status).toBe(201);
});

it('keeps nothing but hashes of the credential in the record and in its answers (O2)', async () => {
  const installation = newInstallation();
  await preadmit(store, installation);
  const { text } = await joinPreadmitted(on(0), installation);
  const dump = JSON.stringify(await store.readBatches(0n, 10_000), (_, value: unknown) =>
    typeof value === 'bigint' ? String(value) : value,
  );
  expect(dump).toContain(hashOf(installation.credential));
  expect(dump + text).not.toContain(installation.credential);
});

// The last one: nobody is let in here any more after it.
it('lets nobody in by what somebody issued who was removed since, and deletes what joined at that moment, whichever was recorded first (O3)', async () => {
  const [before, after, late] = [newInstallation(), newInstallation(), newInstallation()];
  await preadmit(store, before);
  await joinPreadmitted(on(0), before);
  await preadmit(store, after);
  await preadmit(store, late);
  const token = await issueToken(store);
  const decide = store.decide.bind(store);
  store.decide = (async (...asked: Parameters<typeof decide>) => {
    store.decide = decide;
    await removeOwner(store);
    return decide(...asked);
  }) as typeof decide;
  expect((await joinPreadmitted(on(0), after)).body.code).toBe('token-refused');
  expect((await joinPreadmitted(on(1), late)).body.code).toBe('token-refused');
  expect((await enrol(on(1), token, newInstallation())).body.code).toBe('token-refused');
  // The answer about it was lost.
  expect((await joinPreadmitted(on(1), before)).body.code).toBe('token-refused');
  for (const { credential } of [before, after])
    expect((await check(on(0), credential)).body.code).toBe('credential-revoked');
});

import { afterAll, beforeAll, expect, it } from '@jest/globals';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { enrolmentTokenKey, token, tokenIdOf, tokenStream } from '@rollcall/admission';
import { RecordUnavailable } from '@rollcall/event-store';
import { InMemoryEventStore } from '@rollcall/event-store/testing';
import { machine, machineStream } from '@rollcall/machine';
import { recordingLogger } from '@rollcall/nest-platform/testing';
import { recordingMeter } from '@rollcall/telemetry/testing';
import { hashOf, makeSecret } from '@rollcall/wire';
import { randomUUID } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import {
  check,
  checkBody,
  deleteMachine,
  enrol,
  instanceOn,
  issueToken,
  newInstallation,
  OWNER,
  post,
  requestLogTail,
  rotate,
  type Installation,
} from './testing/plane.js';

// One plane of three instances for the file, and two with other terms: each test brings its own machines.
let now = Date.UTC(2026, 0, 1, 12);
const store = new InMemoryEventStore({ now: () => now });
const log = recordingLogger();
let app: NestFastifyApplication;
let second: NestFastifyApplication;
let third: NestFastifyApplication;
let slower: NestFastifyApplication;
let pinned: NestFastifyApplication;
const running: NestFastifyApplication[] = [];

const instance = async (...[on, ...options]: Parameters<typeof instanceOn>): Promise<NestFastifyApplication> => {
  const started = await instanceOn(on, ...options);
  running.push(started);
  return started;
};
beforeAll(async () => {
  app = await instance(store, { logger: log.logger });
  second = await instance(store);
  third = await instance(store);
  slower = await instance(store, { policy: { interval: 90, windowFloor: 120 } });
  pinned = await instance(store, { pins: ['sha256/current'] });
});
afterAll(async () => {
  await Promise.all(running.map((one) => one.close()));
  await store.close();
});

const admitted = async (): Promise<Installation & { id: string }> => {
  const installation = newInstallation();
  const { body } = await enrol(app, await issueToken(store), installation);
  return { ...installation, id: body.machine.id };
};
const facts = async (id: string) =>
  (await store.readStream(machineStream(id))).map((fact) => (fact.kind === 'event' ? fact.event.type : 'CheckedIn'));
const view = async (id: string) => {
  const found = await store.view(machine, { stream: machineStream(id) });
  if (!found) throw new Error('no such machine');
  return found;
};

const nodeOf = async (id: string): Promise<string> => (await view(id)).state.enrolment?.nodeId ?? '';

// ---- enrolment ------------------------------------------------------------------------------------------------------

it('admits an installation by a token, under the person who issued it', async () => {
  const { status, body } = await enrol(app, await issueToken(store, { name: 'lab-1' }), newInstallation(), {
    hostname: 'ip-10-0-0-7',
  });
  expect(status).toBe(201);
  expect(body).toEqual({ machine: { id: expect.any(String), name: 'lab-1', owner: OWNER }, interval: 30 });
  expect(await facts(body.machine.id)).toEqual(['MachineAdmitted', 'GenerationRegistered', 'SelfReportChanged']);
  const [first] = await store.readStream(machineStream(body.machine.id));
  expect(first).toMatchObject({ actor: { kind: 'person', id: OWNER } });
});

it('answers the same installation with the same machine, also after the token has expired (N20)', async () => {
  const token = await issueToken(store);
  const installation = newInstallation();
  const first = await enrol(app, token, installation);
  now += 3_600_000;
  const again = await enrol(app, token, installation);
  expect([first.status, again.status]).toEqual([201, 200]);
  expect(again.body).toEqual(first.body);
  expect(await facts(first.body.machine.id)).toHaveLength(2);
});

it('refuses malformed, unknown, expired and used tokens, and one whose machine is deleted, in the same words (N20, O5)', async () => {
  const used = await issueToken(store);
  await enrol(app, used, newInstallation());
  const expired = await issueToken(store, { expiresIn: 60 });
  const gone = await issueToken(store);
  const installation = newInstallation();
  await deleteMachine(store, (await enrol(app, gone, installation)).body.machine.id);
  now += 60_000;
  const refusals = [
    await enrol(app, 'no token at all', newInstallation()),
    await enrol(app, makeSecret('rcm'), newInstallation()),
    await enrol(app, makeSecret('rce'), newInstallation()),
    await enrol(app, expired, newInstallation()),
    await enrol(app, used, newInstallation()),
    await enrol(app, gone, installation),
  ];
  const words = refusals.map(({ status, headers, text }) => ({
    status,
    headers: { ...headers, date: null },
    text: text.replace(/"requestId":"[0-9a-f-]{36}"/, ''),
  }));
  expect(words[0]).toMatchObject({ status: 403, headers: { 'content-type': 'application/problem+json' } });
  expect(words[0]?.text).toContain('"code":"token-refused"');
  expect(words).toEqual(refusals.map(() => words[0]));
});

it('refuses a token that was withdrawn, also where that comes between the look and the admission (N20)', async () => {
  const withdrawal = async (secret: string) => {
    const view = await store.view(token, { claim: enrolmentTokenKey(hashOf(secret)) });
    const command = { type: 'WithdrawToken', token: tokenIdOf(view!.stream) } as const;
    return store.decide(token, { stream: view!.stream }, command, { actor: { kind: 'person', id: OWNER } });
  };
  const [before, between, used] = [await issueToken(store), await issueToken(store), await issueToken(store)];
  await withdrawal(before);
  expect(await enrol(app, before, newInstallation())).toMatchObject({ status: 403, body: { code: 'token-refused' } });

  const decide = store.decide.bind(store);
  const quicker = new InMemoryEventStore({ now: () => now });
  Object.assign(quicker, { view: store.view.bind(store), holder: store.holder.bind(store) });
  quicker.decide = async (...asked) => {
    await withdrawal(between);
    return decide(...asked);
  };
  const late = await instance(quicker);
  expect(await enrol(late, between, newInstallation())).toMatchObject({ status: 403, body: { code: 'token-refused' } });
  await quicker.close();

  expect((await enrol(app, used, newInstallation())).status).toBe(201);
  await expect(withdrawal(used)).rejects.toThrow('redemption');
});

it('tells an identifier in use only to the holder of a token that still counts, does not use that token up, and shows it on the machine (O18, C03)', async () => {
  const { identifier, id, credential } = await admitted();
  const copy = { ...newInstallation(), identifier };
  const token = await issueToken(store);
  const expired = await issueToken(store, { expiresIn: 60 });
  const refused = await enrol(app, token, { ...copy, identifier: identifier.toUpperCase() });
  expect([refused.status, refused.body.code]).toEqual([409, 'identifier-in-use']);
  now += 60_000;
  expect((await enrol(app, expired, copy)).body.code).toBe('token-refused');
  const { length } = await facts(id);
  await Promise.all(Array.from({ length: 20 }, () => enrol(second, token, copy, { hostname: 'forge' })));
  // One event of the first refusal, a minute ago, and one of the twenty that followed (C03).
  expect((await facts(id)).slice(length - 1)).toEqual(['ClaimRefused', 'ClaimRefused']);
  const [noted] = (await store.readStream(machineStream(id))).slice(-1);
  expect(noted).toMatchObject({ actor: { kind: 'plane' }, event: { hostname: 'forge' } });
  expect((await check(app, credential)).status).toBe(200);
  await deleteMachine(store, id);
  expect((await enrol(app, token, copy)).status).toBe(201);
  expect((await check(app, credential)).body.code).toBe('credential-revoked');
});

it('admits the next machine of a node: its name and labels stay, its credential is another, and the one before is revoked (N19, O31)', async () => {
  const { id, credential } = await admitted();
  const person = { actor: { kind: 'person', id: OWNER } } as const;
  const stream = machineStream(id);
  await store.decide(machine, { stream }, { type: 'RenameMachine', name: 'forge' }, person);
  await store.decide(machine, { stream }, { type: 'SetLabels', set: { rack: 'b7' }, remove: [] }, person);
  const token = await issueToken(store, { node: await nodeOf(id) });
  await deleteMachine(store, id);
  const next = newInstallation();
  const { status, body } = await enrol(app, token, next);
  expect([status, body.machine.name]).toEqual([201, 'forge']);
  expect(body.machine.id).not.toBe(id);
  const { state } = await view(body.machine.id);
  expect(state).toMatchObject({ labels: { rack: 'b7' }, enrolment: { nodeId: await nodeOf(id) } });
  expect((await check(app, next.credential, checkBody({ name: 'ip-10-0-0-9' }))).body.machine.name).toBe('forge');
  expect((await check(app, credential)).body.code).toBe('credential-revoked');
});

it('gives the same installation the same machine of a node again after a lost answer (N19)', async () => {
  const { id } = await admitted();
  const token = await issueToken(store, { node: await nodeOf(id) });
  await deleteMachine(store, id);
  const next = newInstallation();
  const [first, again] = [await enrol(app, token, next), await enrol(second, token, next)];
  expect([first.status, again.status]).toEqual([201, 200]);
  expect(again.body).toEqual(first.body);
  expect((await check(app, next.credential)).status).toBe(200);
});

it('lets a node have one living machine, however many tokens it has and however many come at once (N19, C07)', async () => {
  const { id } = await admitted();
  const node = await nodeOf(id);
  const early = await issueToken(store, { node });
  expect((await enrol(app, early, newInstallation())).body.code).toBe('token-refused');
  await deleteMachine(store, id);
  const tokens = [early, ...(await Promise.all(Array.from({ length: 20 }, () => issueToken(store, { node }))))];
  const instances = [app, second, third] as const;
  const answers = await Promise.all(
    tokens.map((token, index) => enrol(instances[index % 3] as NestFastifyApplication, token, newInstallation())),
  );
  const won = answers.filter(({ status }) => status === 201);
  expect(won).toHaveLength(1);
  const lost = answers.filter(({ status }) => status !== 201);
  expect(lost.every(({ body }) => body.code === 'token-refused')).toBe(true);
  // After that machine another token counts again, and what it hands on is that machine's.
  await deleteMachine(store, won[0]?.body.machine.id ?? '');
  const last = await enrol(app, tokens[answers.findIndex(({ status }) => status !== 201)] ?? '', newInstallation());
  expect(last.status).toBe(201);
  const [admission] = await store.readStream(machineStream(last.body.machine.id));
  expect(admission).toMatchObject({ event: { succeeds: won[0]?.body.machine.id } });
});

it('admits nobody to the node of another person (N19, O29)', async () => {
  const { id } = await admitted();
  const node = await nodeOf(id);
  await deleteMachine(store, id);
  const secret = makeSecret('rce');
  await store.decide(
    token,
    { stream: tokenStream(randomUUID()) },
    { type: 'IssueToken', tokenHash: hashOf(secret), owner: 'person-2', name: null, node, expiresIn: 900 },
    { actor: { kind: 'person', id: 'person-2' } },
  );
  expect((await enrol(app, secret, newInstallation())).body.code).toBe('token-refused');
});

it('asks for a new credential where the hash was registered before, and does not use the token up', async () => {
  const { credential } = await admitted();
  const token = await issueToken(store);
  const refused = await enrol(app, token, { ...newInstallation(), credential });
  expect(refused.body).toMatchObject({ code: 'invalid-body', errors: [{ field: 'credentialHash' }] });
  expect((await enrol(app, token, newInstallation())).status).toBe(201);
});

it('lets exactly one of fifty parallel enrolments on three instances redeem a token (C07)', async () => {
  const instances = [app, second, third];
  const { number: before } = await store.newest();
  const token = await issueToken(store);
  const answers = await Promise.all(
    Array.from({ length: 50 }, (_, index) => enrol(instances[index % 3] ?? app, token, newInstallation())),
  );
  const [winner, ...more] = answers.filter(({ status }) => status === 201);
  expect(more).toEqual([]);
  const losers = answers.filter(({ status }) => status !== 201);
  const unknown = await enrol(app, makeSecret('rce'), newInstallation());
  const words = ({ status, text }: { status: number; text: string }) =>
    `${status} ${text.replace(/"requestId":"[^"]*"/, '')}`;
  expect(new Set(losers.map(words))).toEqual(new Set([words(unknown)]));
  const recorded = (await store.readBatches(before, 1_000)).flatMap((batch) => batch.facts);
  const types = recorded.map((fact) => (fact.kind === 'event' ? fact.event.type : 'CheckedIn'));
  expect(types).toEqual(['TokenIssued', 'MachineAdmitted', 'GenerationRegistered']);
  expect(winner?.body.machine.id).toBeDefined();
});

it('gives fifty parallel repetitions of one installation one and the same machine (C07, U9)', async () => {
  const instances = [app, second, third];
  const token = await issueToken(store);
  const installation = newInstallation();
  const answers = await Promise.all(
    Array.from({ length: 50 }, (_, index) => enrol(instances[index % 3] ?? app, token, installation)),
  );
  expect(answers.filter(({ status }) => status === 201)).toHaveLength(1);
  expect(answers.filter(({ status }) => status === 200)).toHaveLength(49);
  expect(new Set(answers.map(({ body }) => body.machine.id)).size).toBe(1);
});

it.each([
  ['token', { token: 7 }],
  ['identifier', { identifier: 'mine' }],
  ['credentialHash', { credentialHash: 'ABC' }],
])('names the field %s of an enrolment when it is wrong', async (field, wrong) => {
  const body = { token: makeSecret('rce'), identifier: randomUUID(), credentialHash: hashOf('x'), ...wrong };
  const answer = await post<{ code: string; errors: { field: string }[] }>(app, '/v1/enrolments', body);
  expect([answer.status, answer.body.code, answer.body.errors.map((error) => error.field)]).toEqual([
    422,
    'invalid-body',
    [field],
  ]);
});

// ---- checks ---------------------------------------------------------------------------------------------------------

it('answers a check with who the machine is, when to come again, and what to present then', async () => {
  const { credential, id } = await admitted();
  const { status, body } = await check(
    pinned,
    credential,
    checkBody({ name: 'lab-1', report: { hostname: 'ip-10-0-0-7' } }),
  );
  expect(status).toBe(200);
  expect(body).toEqual({
    machine: { id, name: 'lab-1', owner: OWNER, generation: 1 },
    interval: 30,
    chain: expect.stringMatching(/^[0-9a-f-]{36}\.1\.[A-Za-z0-9_-]{43}$/),
    pins: ['sha256/current'],
    requests: { logTail: null, rotate: null },
    serverTime: new Date(now).toISOString(),
  });
  expect((await check(app, credential, checkBody({ sequence: 2 }))).body).not.toHaveProperty('pins');
});

it('gives a repeated check its first answer and records nothing, on whichever instance and under whatever terms (U9)', async () => {
  const { credential, id } = await admitted();
  const body = checkBody();
  const first = await check(app, credential, body);
  const recorded = await facts(id);
  now += 5_000;
  const again = await check(slower, credential, body);
  expect({ ...again.body, serverTime: null }).toEqual({ ...first.body, serverTime: null });
  expect(await facts(id)).toEqual(recorded);
});

it('counts each check by what became of it, with nothing of the machine (O2)', async () => {
  const { meter, samples } = recordingMeter();
  const counting = await instance(store, { meter });
  const { credential } = await admitted();
  const body = checkBody({ sequence: 2 });
  for (const said of [body, body, checkBody({ sequence: 1 }), { sequence: 'x' }])
    await check(counting, credential, said);
  await check(counting, makeSecret('rcm'));
  await enrol(counting, makeSecret('rce'), newInstallation());
  expect(await samples('rollcall_checks_total')).toEqual([
    'rollcall_checks_total{outcome="accepted"} 1',
    'rollcall_checks_total{outcome="credential-unknown"} 1',
    'rollcall_checks_total{outcome="invalid-body"} 1',
    'rollcall_checks_total{outcome="repeated"} 1',
    'rollcall_checks_total{outcome="stale-check"} 1',
  ]);
});

it('takes an id in capital letters for the same id, as the record does', async () => {
  const { credential, id } = await admitted();
  const checkId = randomUUID();
  await check(app, credential, checkBody({ checkId }));
  const recorded = await facts(id);
  expect((await check(app, credential, checkBody({ checkId: checkId.toUpperCase() }))).status).toBe(200);
  expect(await facts(id)).toEqual(recorded);
});

it('knows a credential from its enrolment on, also where it was asked for before', async () => {
  const token = await issueToken(store);
  const installation = newInstallation();
  expect((await check(app, installation.credential)).body.code).toBe('credential-unknown');
  const { body } = await enrol(second, token, installation);
  expect((await check(app, installation.credential)).body.machine.id).toBe(body.machine.id);
});

it('accepts a machine on any instance, its chain unbroken (U9)', async () => {
  const instances = [app, second];
  const { credential, id } = await admitted();
  let chain: string | null = null;
  for (let sequence = 1; sequence <= 6; sequence += 1) {
    const answer = await check(instances[sequence % 2] ?? app, credential, checkBody({ sequence, chain }));
    expect([answer.status, answer.body.chain.split('.')[1]]).toEqual([200, String(sequence)]);
    ({ chain } = answer.body);
    now += 30_000;
  }
  expect((await view(id)).state.checkIns.chain).toMatchObject({ cur: { number: 6 }, prev: { number: 5 } });
});

it.each([
  [
    'of another machine',
    async () => {
      const other = await admitted();
      return (await check(app, other.credential)).body.chain;
    },
  ],
  ['forged', () => Promise.resolve(`${randomUUID()}.5.${'A'.repeat(43)}`)],
  ['of no form', () => Promise.resolve('x'.repeat(500))],
  ['no text', () => Promise.resolve(17)],
])('takes a chain token that is %s for none, without a signal', async (_, make) => {
  const { credential, id } = await admitted();
  const answer = await check(app, credential, checkBody({ chain: await make() }));
  expect(answer.status).toBe(200);
  expect((await view(id)).state.checkIns.chain?.prev).toBeNull();
});

it('starts the chain anew in another epoch of the record', async () => {
  const { credential, id } = await admitted();
  const { body } = await check(app, credential);
  store.renewEpoch();
  const restored = await instance(store);
  const answer = await check(restored, credential, checkBody({ sequence: 2, chain: body.chain }));
  expect(answer.body.chain.slice(0, 36)).toBe(await store.epoch());
  expect((await view(id)).state.checkIns.chain?.prev).toBeNull();
});

it('tells an unknown, a retired and a revoked credential apart (O20, O31)', async () => {
  const { credential, id } = await admitted();
  const next = makeSecret('rcm');
  await check(app, credential);
  const unknown = await check(app, makeSecret('rcm'));
  expect([unknown.status, unknown.body.code, unknown.headers['www-authenticate']]).toEqual([
    401,
    'credential-unknown',
    'Bearer',
  ]);
  await rotate(store, id, credential, next);
  await check(app, next, checkBody({ sequence: 2 }));
  const behind = await check(app, credential, checkBody({ sequence: 3 }));
  expect([behind.status, behind.body.code, behind.headers['www-authenticate']]).toEqual([
    401,
    'generation-behind',
    'Bearer',
  ]);
  await deleteMachine(store, id);
  for (const held of [next, credential]) {
    const revoked = await check(app, held, checkBody({ sequence: 4 }));
    expect([revoked.status, revoked.body.code]).toEqual([410, 'credential-revoked']);
  }
});

it('lets no late check, goodbye or repetition bring a deleted machine back, on any instance (O31)', async () => {
  const { credential, id } = await admitted();
  const body = checkBody();
  await check(app, credential, body);
  await deleteMachine(store, id);
  const past = await facts(id);
  for (const late of [
    body,
    checkBody({ sequence: 2 }),
    checkBody({ boot: { counter: 2, id: '0000000b' }, said: 'stopping', reason: 'revocation' }),
  ])
    for (const instance of [app, second])
      expect((await check(instance, credential, late)).body.code).toBe('credential-revoked');
  expect(await facts(id)).toEqual(past);
});

it.each([
  ['none', undefined],
  ['no bearer', 'Basic cm9vdDpyb290'],
  ['another kind of secret', `Bearer ${makeSecret('rco')}`],
  ['a mistyped one', `Bearer ${makeSecret('rcm').slice(0, -1)}!`],
])('refuses a check with %s for a credential before it reads anything (O5)', async (_, authorization) => {
  const own = new InMemoryEventStore();
  const silent = await instance(own);
  own.holder = () => Promise.reject(new Error('the record was read'));
  const answer = await post<{ code: string }>(silent, '/v1/check', checkBody(), authorization ? { authorization } : {});
  expect([answer.status, answer.body.code]).toEqual([401, 'credential-unknown']);
});

it('takes no field of a body for authority: another’s id, name and boot change nothing of theirs (O5)', async () => {
  const victim = await admitted();
  await check(app, victim.credential, checkBody({ name: 'victim' }));
  const before = await view(victim.id);
  const thief = await admitted();
  const claim = {
    believes: { machine: victim.id, generation: 1 },
    machine: victim.id,
    identifier: victim.identifier,
    name: 'victim',
  };
  const answer = await check(app, thief.credential, checkBody(claim));
  expect(answer.body.machine.id).toBe(thief.id);
  expect(await view(victim.id)).toEqual(before);
  const unknown = await check(app, makeSecret('rcm'), checkBody(claim));
  expect(unknown.body.code).toBe('credential-unknown');
});

it('lets a request ride on each answer, a repetition’s too, on any instance, also after a stop and a new key (O26, U9)', async () => {
  const { id, credential } = await admitted();
  const body = (sequence: number, over = {}) => checkBody({ sequence, checkId: randomUUID(), ...over });
  const first = body(1);
  const asks = async (on: NestFastifyApplication, said: object, by = credential) =>
    (await check(on, by, said)).body.requests.logTail;
  expect(await asks(app, first)).toBeNull();
  const stamp = await requestLogTail(store, id);
  expect([await asks(second, first), await asks(third, body(2))]).toEqual([stamp, stamp]);
  const goodbye = body(3, { said: 'stopping', reason: 'person' });
  expect([await asks(app, goodbye), await asks(second, goodbye)]).toEqual([stamp, stamp]);

  now += 86_400_000;
  const next = makeSecret('rcm');
  await rotate(store, id, credential, next);
  const restarted = checkBody({ boot: { counter: 2, id: '0000000b' } });
  expect(await asks(third, restarted, next)).toBe(stamp);
  // A newer request takes its place, and is the one that rides on.
  const newer = await requestLogTail(store, id);
  expect(newer > stamp).toBe(true);
  expect(await asks(app, restarted, next)).toBe(newer);
});

it('answers a late check with the highest boot counter (C17)', async () => {
  const { credential } = await admitted();
  await check(app, credential, checkBody({ boot: { counter: 3, id: '0000000c' } }));
  const late = await check(app, credential, checkBody({ boot: { counter: 2, id: '0000000b' } }));
  expect([late.status, late.body.code, late.body.highestBoot]).toEqual([409, 'stale-check', 3]);
});

it('records why a machine stops (O17)', async () => {
  const { credential, id } = await admitted();
  await check(app, credential, checkBody({ said: 'stopping', reason: 'person' }));
  expect((await store.readStream(machineStream(id))).at(-1)).toMatchObject({
    checkIn: { said: 'stopping', reason: 'person' },
  });
  const silent = await check(app, credential, checkBody({ sequence: 2, said: 'stopping' }));
  expect([silent.status, silent.body.errors?.map(({ field }) => field)]).toEqual([422, ['reason']]);
});

it('moves the line of a machine with the interval, from the answer that issued it on (C10)', async () => {
  const { credential, id } = await admitted();
  await check(app, credential);
  const answer = await check(slower, credential, checkBody({ sequence: 2 }));
  expect([answer.body.interval, (await view(id)).state.checkIns.window]).toEqual([90, 270]);
});

// ---- odd input (C11) ------------------------------------------------------------------------------------------------

const raw = (fields: string): string => `${JSON.stringify(checkBody()).slice(0, -1)},${fields}}`;

it.each([
  ['a NUL in the name', raw('"name":"lab\\u0000-1","report":{"hostname":"lab\\u0000-1"}'), 'lab-1'],
  ['a lone surrogate', raw('"name":"lab\\ud800-1","report":{"hostname":"\\udc00"}'), 'lab-1'],
  ['nothing but what cannot be shown', raw('"name":"\\u0000\\u202e"'), null],
  ['a name that is no text', raw('"name":{"first":"lab"},"report":"none","believes":7,"secondsCutOff":"long"'), null],
  ['blockers that are no codes', raw('"blockers":["disk full!",7]'), null],
  ['blockers that are no list', raw('"blockers":"disk-full"'), null],
  ['a list of unprobed codes that is none', raw('"blockers":[],"notProbed":{"disk-full":true}'), null],
  ['a probe that hangs', raw('"blockers":[],"notProbed":["disk-full"]'), null],
  ['fields of a newer agent', raw('"mood":"good","report":{"mood":"good"},"__proto__":{"x":1}'), null],
])('does not let %s cost liveness; what was known stays (C11, O25)', async (_, body, name) => {
  const { credential, id } = await admitted();
  await check(app, credential, checkBody({ blockers: ['disk-full'], boot: { counter: 1, id: '0000000f' } }));
  now += 30_000;
  const answer = await check(app, credential, body);
  expect([answer.status, answer.body.machine.name]).toEqual([200, name]);
  const after = await view(id);
  expect([after.lastCheckAt, after.state.blockers]).toEqual([now, ['disk-full']]);
  const recorded = JSON.stringify(await store.readBatches(0n, 10_000), (_key, value: unknown) =>
    typeof value === 'bigint' ? String(value) : value,
  );
  expect(recorded).not.toMatch(/\\u0000|\\ud800|\\udc00/);
});

it('cuts a long name down instead of refusing it (C11)', async () => {
  const { credential } = await admitted();
  const answer = await check(
    app,
    credential,
    checkBody({ name: 'x'.repeat(10_000), report: { hostname: 'y'.repeat(10_000) } }),
  );
  expect([answer.status, answer.body.machine.name]).toEqual([200, 'x'.repeat(64)]);
});

it.each([
  [
    'the byte 0xFF',
    () => Buffer.from([...Buffer.from('{"name":"'), 0xff, ...Buffer.from('"}')]),
    {},
    400,
    'malformed-body',
  ],
  ['5,000 nested arrays', () => `{"boot":${'['.repeat(5_000)}${']'.repeat(5_000)}}`, {}, 400, 'malformed-body'],
  ['a text of 10 MB', () => JSON.stringify({ name: 'x'.repeat(10_000_000) }), {}, 413, 'too-large'],
  ['a gzip body', () => gzipSync(Buffer.alloc(10_000_000)), { 'content-encoding': 'gzip' }, 415, 'unsupported-type'],
  ['a sequence with a fraction', () => JSON.stringify(checkBody({ sequence: 1.5 })), {}, 422, 'invalid-body'],
  ['a boot that is a list', () => JSON.stringify(checkBody({ boot: [] })), {}, 422, 'invalid-body'],
  [
    'a boot beyond 32 bits',
    () => JSON.stringify(checkBody({ boot: { counter: 2 ** 31, id: '0000000a' } })),
    {},
    422,
    'invalid-body',
  ],
  ['a checkId that is no UUID', () => JSON.stringify(checkBody({ checkId: '\u0000' })), {}, 422, 'invalid-body'],
  ['an unknown word', () => JSON.stringify(checkBody({ said: 'sleeping' })), {}, 422, 'invalid-body'],
])(
  'refuses %s without a 5xx and without a trace, and the next check is accepted (C11)',
  async (_, body, headers, status, code) => {
    const { credential, id } = await admitted();
    const past = await facts(id);
    const answer = await check(app, credential, body(), headers);
    const named = (answer.body.errors ?? []).length > 0;
    expect([answer.status, answer.body.code, named]).toEqual([status, code, status === 422]);
    expect(await facts(id)).toEqual(past);
    expect((await check(app, credential)).status).toBe(200);
  },
);

// ---- clocks, load, logs ---------------------------------------------------------------------------------------------

it('does not know the machine’s clock: nothing it says about time decides anything (C13)', async () => {
  const { credential, id } = await admitted();
  for (const [index, at] of ['2036-01-01T00:00:00Z', '1970-01-01T00:00:00Z', '2026-01-01T12:09:00Z'].entries()) {
    const answer = await check(app, credential, checkBody({ sequence: index + 1, at, clock: at, sentAt: at }), {
      date: new Date(at).toUTCString(),
    });
    expect([answer.status, answer.body.serverTime]).toEqual([200, new Date(now).toISOString()]);
    now += 30_000;
  }
  expect(await facts(id)).toEqual([
    'MachineAdmitted',
    'GenerationRegistered',
    'GenerationConfirmed',
    'AgentStarted',
    'CheckedIn',
    'CheckedIn',
    'CheckedIn',
  ]);
});

it('says when to come again while the record cannot be reached', async () => {
  const away = new InMemoryEventStore();
  const deaf = await instance(away);
  away.holder = () => Promise.reject(new RecordUnavailable('connect ECONNREFUSED'));
  away.view = () => Promise.reject(new RecordUnavailable('connect ECONNREFUSED'));
  const checked = await check(deaf, makeSecret('rcm'));
  expect([checked.status, checked.body.code, checked.headers['retry-after']]).toEqual([503, 'unavailable', '5']);
  const enrolled = await enrol(deaf, makeSecret('rce'), newInstallation());
  expect([enrolled.status, enrolled.body.code, enrolled.headers['retry-after']]).toEqual([503, 'unavailable', '5']);
});

it('stores and logs no address, no secret and no identifier of a machine (O2)', async () => {
  const token = await issueToken(store);
  const installation = newInstallation();
  const { body } = await enrol(app, token, installation);
  const forwarded = { 'x-forwarded-for': '203.0.113.78', forwarded: 'for=203.0.113.79' };
  await check(app, installation.credential, checkBody(), forwarded);
  await check(app, makeSecret('rcm'), checkBody(), forwarded);
  await check(app, installation.credential, '{', forwarded);
  expect(body.machine.id).toBeDefined();
  const recorded = JSON.stringify(await store.readBatches(0n, 10_000), (_key, value: unknown) =>
    typeof value === 'bigint' ? String(value) : value,
  );
  const written = recorded + log.text();
  expect(log.lines().filter(({ msg }) => msg === 'request').length).toBeGreaterThanOrEqual(4);
  for (const secret of ['203.0.113', token, installation.credential, installation.identifier])
    expect(written).not.toContain(secret);
});

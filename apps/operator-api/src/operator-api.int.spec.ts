import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { PinnedClient, type HttpCall } from '@rollcall/pinned-https';
import { recordingLogger } from '@rollcall/nest-platform/testing';
import {
  hashOf,
  makeSecret,
  type BlockerList,
  type History,
  type LogTailRequestAnswer,
  type LogTailView,
  type MachineDetail,
  type MachineList,
  type PresenceAnswer,
  type Problem,
  type Readiness,
  type RotationRequestAnswer,
  type ReadModelList,
  type SignInAnswer,
} from '@rollcall/wire';
import { startOperatorPlane, type OperatorPlane } from '../../../test/support/operator-plane.js';
import { tokenStream } from '@rollcall/admission';
import { ensureFirstPerson } from '@rollcall/first-person';
import { person, personStream, type SessionStarted } from '@rollcall/person';
import { machine, machineStream, refusals, refusalsStream } from '@rollcall/machine';
import { admit } from '@rollcall/machine/testing';
import type { OperatorApi } from './index.js';

jest.setTimeout(60_000);

const { logger, text: logged } = recordingLogger();
let plane: OperatorPlane;
let session: string;

beforeAll(async () => {
  plane = await startOperatorPlane(logger);
  session = await signIn();
});
afterAll(() => plane.close());

type Answer<Body> = { readonly status: number; readonly mediaType: string; readonly body: Body };
const clients = new Map<OperatorApi, PinnedClient>();

const ask = async <Body = Problem>(
  method: HttpCall['method'],
  path: string,
  { body, bearer = session, at = plane.api }: { body?: unknown; bearer?: string | null; at?: OperatorApi } = {},
): Promise<Answer<Body>> => {
  const client = clients.get(at) ?? new PinnedClient({ origin: at.url, pins: at.pins });
  clients.set(at, client);
  const {
    status,
    mediaType,
    body: text,
  } = await client.request({
    method,
    path,
    headers: {
      ...(bearer === null ? {} : { authorization: `Bearer ${bearer}` }),
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  return { status, mediaType, body: (mediaType.includes('json') ? JSON.parse(text) : text) as Body };
};

const secretOf = (link: string): string => new URL(link).hash.slice(1).split('.')[0] ?? '';
const signIn = async (): Promise<string> => {
  const link = secretOf(await plane.link());
  return (await ask<SignInAnswer>('POST', '/v1/sessions', { body: { link }, bearer: null })).body.session;
};
/** A refusal as the caller sees it, without what differs by request. */
const refusal = ({ status, body }: Answer<Problem>) => ({ ...body, answered: status, requestId: undefined });

describe('signing in', () => {
  it('turns a link into a session once, and refuses a used, an unknown and a malformed one in the same words', async () => {
    const link = secretOf(await plane.link());
    const first = await ask<SignInAnswer>('POST', '/v1/sessions', { body: { link }, bearer: null });
    expect(first).toMatchObject({ status: 201, body: { person: { id: plane.personId, name: 'Ada' } } });
    const refused = await Promise.all(
      [link, makeSecret('rcl'), makeSecret('rce'), 'nonsense'].map((other) =>
        ask('POST', '/v1/sessions', { body: { link: other }, bearer: null }),
      ),
    );
    expect(refused[0]).toMatchObject({ status: 403, body: { code: 'link-refused' } });
    for (const one of refused) expect(refusal(one)).toEqual(refusal(refused[0] as Answer<Problem>));
  });

  it('gives one session to two who use one link at once', async () => {
    const link = secretOf(await plane.link());
    const answers = await Promise.all(
      Array.from({ length: 4 }, () => ask('POST', '/v1/sessions', { body: { link }, bearer: null })),
    );
    expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([201, 403, 403, 403]);
  });

  it('ends a session at once on every instance (U9)', async () => {
    const other = await plane.another();
    const own = await signIn();
    expect((await ask('GET', '/v1/me', { bearer: own, at: other })).status).toBe(200);
    expect((await ask('DELETE', '/v1/sessions/current', { bearer: own })).status).toBe(204);
    expect((await ask('GET', '/v1/me', { bearer: own, at: other })).body.code).toBe('not-signed-in');
    expect((await ask('GET', '/v1/me', { bearer: own })).body.code).toBe('not-signed-in');
  });

  it('answers the link’s own address without a secret', async () => {
    const page = await ask<string>('GET', '/sign-in', { bearer: null });
    expect(page).toMatchObject({ status: 200, mediaType: 'text/plain' });
    expect(page.body).toContain('rollcall login');
  });

  it('keeps no secret but as a hash: not in an event, not in a log line (O2)', async () => {
    const link = secretOf(await plane.link());
    const { body } = await ask<SignInAnswer>('POST', '/v1/sessions', { body: { link }, bearer: null });
    await ask('GET', '/v1/me', { bearer: body.session });
    const recorded = JSON.stringify(await plane.store.readStream(`person-${plane.personId}`), (_key, value: unknown) =>
      typeof value === 'bigint' ? String(value) : value,
    );
    expect(recorded).toContain(hashOf(body.session));
    for (const secret of [link, body.session]) {
      expect(recorded).not.toContain(secret);
      expect(logged()).not.toContain(secret);
    }
  });

  it.each([
    ['no credential', null],
    ['a machine’s credential', makeSecret('rcm')],
    ['an automation token', makeSecret('rca')],
    ['an enrolment token', makeSecret('rce')],
    ['a session that nobody started', makeSecret('rco')],
  ])('knows nobody by %s, on any route (O3)', async (_what, bearer) => {
    for (const [method, path, body] of [
      ['GET', '/v1/machines'],
      ['GET', '/v1/blockers'],
      ['GET', '/v1/presence'],
      ['GET', '/v1/machines/x/readiness'],
      ['POST', '/v1/enrolment-tokens', { commandId: randomUUID(), tokenHash: hashOf('x') }],
      ['PATCH', '/v1/machines/x', { commandId: randomUUID(), name: 'x' }],
      ['DELETE', '/v1/machines/x', { commandId: randomUUID() }],
      ['POST', '/v1/machines/x/pause', { commandId: randomUUID(), note: 'x' }],
      ['PATCH', '/v1/machines/x/labels', { commandId: randomUUID() }],
      ['GET', '/v1/machines/x/why'],
      ['GET', '/v1/promises'],
      ['PUT', '/v1/promises', { commandId: randomUUID(), label: 'a=b', schedule: 'always' }],
      ['POST', '/v1/read-models/presence/rebuild'],
    ] as const)
      expect(await ask(method, path, { bearer, body })).toMatchObject({ status: 401, body: { code: 'not-signed-in' } });
  });
});

describe('a session that is no longer fresh', () => {
  /** As one that began in the time before the record kept when a person signed in. */
  const staleSession = async (): Promise<string> => {
    const secret = secretOf(await plane.link());
    const stale = makeSecret('rco');
    const undated: typeof person = {
      ...person,
      decide: (...given) =>
        person.decide(...given).map((event) => {
          const { authenticatedAt: _, ...old } = event as SessionStarted;
          return old;
        }),
    };
    const begin = {
      sessionId: randomUUID(),
      sessionHash: hashOf(stale),
      proof: { linkHash: hashOf(secret) },
      expiresIn: 3_600,
    };
    const actor = { kind: 'person', id: plane.personId } as const;
    await plane.store.decide(
      undated,
      { stream: personStream(plane.personId) },
      { type: 'StartSession', ...begin },
      { actor },
    );
    return stale;
  };

  it('reads and renames, but neither admits nor deletes; one that has just begun does (O3)', async () => {
    const bearer = await staleSession();
    const { id } = await plane.join({ name: 'kept' });
    const commandId = randomUUID();
    expect((await ask('GET', '/v1/me', { bearer })).status).toBe(200);
    expect((await ask('PATCH', `/v1/machines/${id}`, { bearer, body: { commandId, name: 'kept-2' } })).status).toBe(
      200,
    );
    for (const [method, path, body] of [
      ['DELETE', `/v1/machines/${id}`, { commandId: randomUUID() }],
      ['POST', '/v1/enrolment-tokens', { commandId: randomUUID(), tokenHash: hashOf(makeSecret('rce')) }],
    ] as const) {
      expect(await ask(method, path, { bearer, body })).toMatchObject({
        status: 403,
        body: { code: 'session-not-fresh' },
      });
      expect((await ask(method, path, { body })).status).toBeLessThan(300);
    }
  });
});

describe('the first person', () => {
  it('is one, however often the plane starts', async () =>
    expect(await ensureFirstPerson(plane.store, { name: 'Eve' })).toEqual({ personId: plane.personId }));
});

describe('enrolment tokens', () => {
  const issue = (body: object) => ask('POST', '/v1/enrolment-tokens', { body });

  it('registers a hash and says where machines go; a repetition is answered alike (N20)', async () => {
    const request = { commandId: randomUUID(), tokenHash: hashOf(makeSecret('rce')), name: 'edge-1', expiresIn: 60 };
    const first = await issue(request);
    expect(first).toMatchObject({
      status: 201,
      body: { token: { name: 'edge-1' }, machineApi: 'https://127.0.0.1:8443', pins: plane.api.pins },
    });
    expect((await issue(request)).body).toEqual(first.body);
    expect((await issue({ ...request, commandId: randomUUID() })).body.code).toBe('token-refused');
  });

  it('never says that a hash is registered which is not: an id that registered another one is refused', async () => {
    const request = { commandId: randomUUID(), tokenHash: hashOf(makeSecret('rce')) };
    expect((await issue(request)).status).toBe(201);
    expect((await issue({ ...request, tokenHash: hashOf(makeSecret('rce')) })).body.code).toBe('token-refused');
    const { id } = await plane.join();
    expect((await issue({ ...request, node: id })).body.code).toBe('token-refused');
    const { commandId, tokenHash: credentialHash } = request;
    const preadmission = await ask('POST', '/v1/preadmissions', { body: { commandId, credentialHash } });
    expect(preadmission.body.code).toBe('token-refused');
    // The id of something that was done to the node's machine.
    const renaming = { commandId: randomUUID(), name: 'vice-4' };
    await ask('PATCH', `/v1/machines/${id}`, { body: renaming });
    const another = { commandId: renaming.commandId, tokenHash: hashOf(makeSecret('rce')), node: id };
    expect((await issue(another)).body.code).toBe('token-refused');
    expect((await plane.store.view(machine, { stream: machineStream(id) }))?.state.enrolment?.deleted).toBe(false);
  });

  it('deletes the machine of a node in the append that issues the token for its next one; a token that is not issued deletes nothing (N19)', async () => {
    const { id } = await plane.join({ name: 'anvil-7' });
    await plane.caughtUp();
    const taken = hashOf(makeSecret('rce'));
    await issue({ commandId: randomUUID(), tokenHash: taken });
    expect((await issue({ commandId: randomUUID(), tokenHash: taken, node: id })).body.code).toBe('token-refused');
    const lifecycle = async () =>
      (await plane.store.view(machine, { stream: machineStream(id) }))?.state.enrolment?.deleted;
    expect(await lifecycle()).toBe(false);
    const request = { commandId: randomUUID(), tokenHash: hashOf(makeSecret('rce')), node: 'anvil-7' };
    expect(await issue(request)).toMatchObject({ status: 201, body: { token: { name: null }, replaces: id } });
    expect(await lifecycle()).toBe(true);
    const [deletion] = (await plane.store.readStream(machineStream(id))).slice(-1);
    const [issued] = await plane.store.readStream(tokenStream(request.commandId));
    expect(deletion).toMatchObject({ event: { type: 'MachineDeleted' }, batch: issued?.batch });
    expect(await issue(request)).toMatchObject({ status: 201, body: { replaces: id } });
    await plane.caughtUp();
    // The node can be named by the machine that it had, also for a second token.
    const later = { commandId: randomUUID(), tokenHash: hashOf(makeSecret('rce')), node: 'anvil-7' };
    expect((await issue(later)).status).toBe(201);
  });

  it('are listed while they can be used, without their secrets, and withdrawn; one that was used says so (N20)', async () => {
    const secret = hashOf(makeSecret('rce'));
    const request = { commandId: randomUUID(), tokenHash: secret, name: 'guest-1' };
    await issue(request);
    const listed = async () => JSON.stringify((await ask('GET', '/v1/enrolment-tokens')).body);
    expect(await listed()).toContain(`"id":"${request.commandId}","kind":"token","name":"guest-1","node":null`);
    expect(await listed()).not.toContain(secret);
    const withdraw = async (id: string) => {
      const { status, body } = await ask('DELETE', `/v1/enrolment-tokens/${id}`, { body: { commandId: randomUUID() } });
      return status === 204 ? status : body.code;
    };
    expect([await withdraw(request.commandId), await withdraw(request.commandId)]).toEqual([204, 204]);
    expect(await listed()).not.toContain(request.commandId);
    const used = randomUUID();
    await issue({ commandId: used, tokenHash: hashOf(makeSecret('rce')) });
    const redeemed = { id: used, expiresAt: Number.MAX_SAFE_INTEGER, owner: plane.personId, name: null };
    const machineId = randomUUID();
    await plane.store.decide(
      machine,
      { stream: machineStream(machineId) },
      admit({ machineId, token: redeemed, identifierHash: hashOf(machineId), keyHash: hashOf(used) }),
      { actor: { kind: 'person', id: plane.personId } },
    );
    expect(await listed()).not.toContain(used);
    expect([await withdraw(used), await withdraw(randomUUID())]).toEqual(['already-admitted', 'token-not-found']);
  });

  it('knows the node of nobody else (N19, O29)', async () => {
    const { id } = await plane.join({ owner: await plane.anotherPerson('Eve') });
    const request = { commandId: randomUUID(), tokenHash: hashOf(makeSecret('rce')), node: id };
    expect((await issue(request)).body.code).toBe('machine-not-found');
    expect((await plane.store.view(machine, { stream: machineStream(id) }))?.state.enrolment?.deleted).toBe(false);
  });

  it.each([
    ['name', { name: 'a\u0000b' }],
    ['name', { name: 'x'.repeat(65) }],
    ['name', { name: '  ' }],
    ['name', { name: 'exe\u202egpj' }],
    ['expiresIn', { expiresIn: 59 }],
    ['expiresIn', { expiresIn: 86_401 }],
    ['tokenHash', { tokenHash: 'abc' }],
    ['commandId', { commandId: '1' }],
    ['owner', { owner: 'somebody' }],
  ])('names the field %s of a body that is not valid (C11)', async (field, wrong) => {
    const { status, body } = await issue({ commandId: randomUUID(), tokenHash: hashOf('x'), ...wrong });
    expect(status).toBe(422);
    expect(body.errors?.map((error) => error.field)).toEqual(expect.arrayContaining([field]));
  });
});

describe('machines', () => {
  const rename = (machine: string, name: unknown, commandId: string = randomUUID()) =>
    ask('PATCH', `/v1/machines/${encodeURIComponent(machine)}`, { body: { commandId, name } });

  it('keeps a person’s name over later checks and a rebuild, and shows the hostname beside it (C02, O24)', async () => {
    const machine = await plane.join();
    await machine.check();
    expect((await rename(machine.id, 'build-box')).body).toEqual({ machine: { id: machine.id, name: 'build-box' } });
    for (let n = 0; n < 5; n += 1) await machine.check({ name: 'ip-10-0-0-7' });
    await machine.check({ report: { hostname: 'ip-10-0-0-9' } });
    const shown = async () => {
      await plane.caughtUp();
      return (await ask<MachineDetail>('GET', `/v1/machines/${machine.id}`)).body.machine;
    };
    expect(await shown()).toMatchObject({ name: 'build-box', hostname: 'ip-10-0-0-9', presence: 'present' });
    expect(await ask('POST', '/v1/read-models/presence/rebuild')).toMatchObject({
      status: 202,
      body: { name: 'presence', rebuilding: true },
    });
    expect(await shown()).toMatchObject({ name: 'build-box', hostname: 'ip-10-0-0-9' });
  });

  it('says "present, but cannot take work" with the blocker named (O32)', async () => {
    const machine = await plane.join({ name: 'full' });
    await machine.check({ blockers: ['disk-full'] });
    await plane.caughtUp();
    const { body } = await ask<MachineDetail>('GET', `/v1/machines/${machine.id}`);
    expect(body.machine.sentence).toMatch(/^present, but cannot take work: .*\(disk-full\)$/);
    expect(body.machine.blockers).toEqual([expect.objectContaining({ code: 'disk-full' })]);
  });

  const named = async (query: string): Promise<readonly string[]> => {
    const { body } = await ask<MachineList>('GET', `/v1/machines?name=readiness-&${query}`);
    return body.machines.map(({ name }) => name ?? '').toSorted();
  };

  it('lists the blockers that stand, explained, with the machines that they stand on, and those machines (O21, O32)', async () => {
    const [full, fuller, noted, gone, theirs] = [
      await plane.join({ name: 'readiness-full' }),
      await plane.join({ name: 'readiness-fuller' }),
      await plane.join({ name: 'readiness-noted' }),
      await plane.join({ name: 'readiness-gone' }),
      await plane.join({ name: 'readiness-theirs', owner: randomUUID() }),
    ];
    await full.check({ blockers: ['credential-unreadable'] });
    await fuller.check({ blockers: ['credential-unreadable', 'moon-phase'] });
    await noted.check({ blockers: ['stops-at-logout'] });
    for (const other of [gone, theirs]) await other.check({ blockers: ['credential-unreadable', 'bad-luck'] });
    await ask('DELETE', `/v1/machines/${gone.id}`, { body: { commandId: randomUUID() } });
    await plane.caughtUp();

    const { body } = await ask<BlockerList>('GET', '/v1/blockers');
    expect([body.behind, typeof body.asOf]).toEqual([false, 'string']);
    const byCode = new Map(body.blockers.map((blocker) => [blocker.code, blocker]));
    expect(byCode.get('credential-unreadable')).toEqual({
      code: 'credential-unreadable',
      known: true,
      sentence: 'the credential file cannot be read',
      fix: expect.stringContaining('the owner of the account'),
      dependsOn: expect.stringContaining('the credential file'),
      blocksWork: true,
      visibleWithin: 90,
      machines: 2,
      since: expect.stringMatching(/Z$/),
      seconds: expect.any(Number),
    });
    expect(byCode.get('moon-phase')).toMatchObject({ known: false, blocksWork: true, machines: 1 });
    expect(byCode.has('bad-luck')).toBe(false);
    expect(byCode.has('update-pending')).toBe(false);
    const whole = (await ask<BlockerList>('GET', '/v1/blockers?all=true')).body.blockers;
    expect(whole.find(({ code }) => code === 'update-pending')).toMatchObject({ machines: 0, since: null });

    expect(await named('blocked=true')).toEqual(['readiness-full', 'readiness-fuller']);
    expect(await named('blocker=moon-phase')).toEqual(['readiness-fuller']);
    expect(await named('blocker=stops-at-logout')).toEqual(['readiness-noted']);
    expect(await named('blocker=disk-full')).toEqual([]);
    expect(await named('blocked=true&limit=1')).toHaveLength(1);
    for (const query of ['machines?blocker=Disk%20Full', 'machines?blocked=1', 'blockers?all=yes'])
      expect((await ask('GET', `/v1/${query}`)).status).toBe(422);
  });

  it('keeps a code that it does not know, shows it as such, and lets it block (O21)', async () => {
    const machine = await plane.join({ name: 'from-the-future' });
    await machine.check({ blockers: ['moon-phase'] });
    await plane.caughtUp();
    const { body } = await ask<MachineDetail>('GET', `/v1/machines/${machine.id}`);
    expect(body.machine).toMatchObject({
      sentence: 'present, but cannot take work: for a reason that this plane does not know (moon-phase)',
      canTakeWork: false,
      blockers: [{ code: 'moon-phase', blocksWork: true, fix: expect.stringContaining('update the plane') }],
    });
  });

  it('keeps what is known of blockers while a machine has not probed, and since when (O25)', async () => {
    const machine = await plane.join();
    await machine.check({ blockers: ['disk-full'] });
    await plane.caughtUp();
    const shown = async () => (await ask<MachineDetail>('GET', `/v1/machines/${machine.id}`)).body.machine;
    const before = await shown();
    await machine.check({ blockers: null });
    await machine.check({ blockers: [], notProbed: ['disk-full'] });
    await plane.caughtUp();
    const after = await shown();
    expect([after.blockers, after.sentence]).toEqual([before.blockers, before.sentence]);
    expect(after.revision).toBeGreaterThan(before.revision);
    const { body } = await ask<Readiness>('GET', `/v1/machines/${machine.id}/readiness`);
    expect(body.episodes).toMatchObject([{ code: 'disk-full', since: before.blockers[0]?.since, until: null }]);
  });

  it('tells since when and until when each blocker stood, the newest first, page by page (O32)', async () => {
    const machine = await plane.join({ name: 'episodic' });
    for (const blockers of [['disk-full'], ['clock-wrong', 'disk-full'], ['clock-wrong'], ['disk-full']])
      await machine.check({ blockers });
    await plane.caughtUp();
    const read = async (query = '') => (await ask<Readiness>('GET', `/v1/machines/episodic/readiness${query}`)).body;
    const whole = await read();
    expect(whole).toMatchObject({ machine: { id: machine.id }, behind: false, next: null });
    expect(whole.episodes.map(({ code, until }) => [code, until === null])).toEqual([
      ['disk-full', true],
      ['clock-wrong', false],
      ['disk-full', false],
    ]);
    const paged: string[] = [];
    let page = await read('?limit=1');
    for (; page.next !== null; page = await read(`?limit=1&after=${page.next}`))
      paged.push(...page.episodes.map(({ since }) => since));
    expect([...paged, ...page.episodes.map(({ since }) => since)]).toEqual(whole.episodes.map(({ since }) => since));
    await ask('DELETE', `/v1/machines/${machine.id}`, { body: { commandId: randomUUID() } });
    await plane.caughtUp();
    expect((await read()).episodes.every(({ until }) => until !== null)).toBe(true);
    for (const query of ['limit=0', 'limit=501', 'after=x'])
      expect((await ask('GET', `/v1/machines/episodic/readiness?${query}`)).status).toBe(422);
  });

  it('finds one by id, by a prefix, and by its exact name, and names the candidates of a name that several have', async () => {
    const [one, other, third] = [
      await plane.join({ name: 'twin' }),
      await plane.join({ name: 'twin' }),
      await plane.join({ name: 'a/b ü' }),
    ];
    await plane.caughtUp();
    const find = (wanted: string) => ask<MachineDetail & Problem>('GET', `/v1/machines/${encodeURIComponent(wanted)}`);
    for (const wanted of [third.id, third.id.slice(0, 13), 'a/b ü'])
      expect((await find(wanted)).body.machine.id).toBe(third.id);
    expect(await find('twin')).toMatchObject({ status: 409, body: { code: 'name-ambiguous' } });
    expect((await find('twin')).body.candidates?.map(({ id }) => id).sort()).toEqual([one.id, other.id].sort());
    expect(await find('nobody')).toMatchObject({ status: 404, body: { code: 'machine-not-found' } });
  });

  it('finds a machine by the longest name that it can have', async () => {
    const name = '👾'.repeat(64);
    const { id } = await plane.join({ name });
    await plane.caughtUp();
    expect((await ask<MachineDetail>('GET', `/v1/machines/${encodeURIComponent(name)}`)).body.machine.id).toBe(id);
  });

  it('pages by id without gaps, filters, and leaves out who was deleted unless asked', async () => {
    const joined = [
      await plane.join({ name: 'page-1' }),
      await plane.join({ name: 'page-2' }),
      await plane.join({ name: 'page-3' }),
    ];
    const gone = joined[1]?.id ?? '';
    expect((await ask('DELETE', `/v1/machines/${gone}`, { body: { commandId: randomUUID() } })).status).toBe(200);
    await plane.caughtUp();
    const list = async (query: string) => (await ask<MachineList>('GET', `/v1/machines?name=PAGE-&${query}`)).body;
    const pages: string[] = [];
    let next: string | null = null;
    do {
      const page: MachineList = await list(`deleted=true&limit=1${next === null ? '' : `&after=${next}`}`);
      pages.push(...page.machines.map(({ id }) => id));
      ({ next } = page);
    } while (next !== null);
    expect(pages).toEqual(joined.map(({ id }) => id).sort());
    expect((await list('')).machines.map(({ id }) => id)).toEqual(pages.filter((id) => id !== gone));
    expect((await list('presence=present')).machines).toEqual([]);
    expect((await list('presence=not-yet-arrived')).machines).toHaveLength(2);
    expect((await ask('GET', '/v1/machines?presence=asleep')).body.errors?.[0]?.field).toBe('presence');
  });

  it('shows a person nothing of somebody else’s machine, on any route', async () => {
    const { id } = await plane.join({ owner: randomUUID(), name: 'theirs' });
    await plane.caughtUp();
    const commandId = randomUUID();
    for (const wanted of [id, id.slice(0, 13), 'theirs']) {
      const answers = [
        await ask('GET', `/v1/machines/${wanted}`),
        await ask('GET', `/v1/machines/${wanted}/history`),
        await ask('GET', `/v1/machines/${wanted}/readiness`),
        await ask('GET', `/v1/machines/${wanted}/why`),
        await rename(wanted, 'mine'),
        await ask('DELETE', `/v1/machines/${wanted}`, { body: { commandId } }),
      ];
      expect(answers.map(({ body }) => body.code)).toEqual(answers.map(() => 'machine-not-found'));
    }
    expect((await ask<MachineList>('GET', '/v1/machines?name=theirs')).body.machines).toEqual([]);
  });

  it('renames once for a repeated command, and answers from the decision', async () => {
    const { id } = await plane.join({ name: 'before' });
    const commandId = randomUUID();
    for (let attempt = 0; attempt < 3; attempt += 1)
      expect((await rename(id, 'after', commandId)).body).toEqual({ machine: { id, name: 'after' } });
    const facts = await plane.store.readStream(`machine-${id}`);
    expect(facts.filter((fact) => fact.kind === 'event' && fact.event.type === 'MachineRenamed')).toHaveLength(1);
  });

  it('deletes for good, and answers a repetition alike; its history stays in order (O31)', async () => {
    const machine = await plane.join({ name: 'short-lived' });
    await machine.check();
    await machine.check({ said: 'stopping', reason: 'person' });
    const remove = () => ask('DELETE', `/v1/machines/${machine.id}`, { body: { commandId: randomUUID() } });
    const first = await remove();
    expect(first).toMatchObject({ status: 200, body: { machine: { name: 'short-lived', lifecycle: 'deleted' } } });
    expect((await remove()).body).toEqual(first.body);
    expect((await rename(machine.id, 'again')).body.code).toBe('machine-not-found');
    await expect(machine.check()).rejects.toThrow('credential-revoked');
    await plane.caughtUp();
    expect((await ask<MachineDetail>('GET', `/v1/machines/${machine.id}`)).body.machine.lifecycle).toBe('deleted');
    const { entries } = (await ask<History>('GET', `/v1/machines/${machine.id}/history`)).body;
    const types = entries.map((entry) => (entry.kind === 'event' ? entry.type : entry.kind));
    expect(types[0]).toBe('MachineAdmitted');
    expect(types).toContain('StopAnnounced');
    expect(types.at(-1)).toBe('MachineDeleted');
    expect(entries.at(-1)?.sentence).toBe('deleted by Ada');
  });

  it('tells the first refused use after a deletion in the newest lines of a history, however few are asked for (B7, O31)', async () => {
    const { id } = await plane.join({ name: 'used-after' });
    await ask('DELETE', `/v1/machines/${id}`, { body: { commandId: randomUUID() } });
    const use = { code: 'credential-revoked', generation: 1, keyHash: 'a'.repeat(64), lastAcceptedAt: null } as const;
    const note = { type: 'NoteRefusal', machine: id, ...use } as const;
    const actor = { kind: 'plane', id: 'plane' } as const;
    await plane.store.decide(refusals, { stream: refusalsStream(id) }, note, { actor });
    await plane.caughtUp();
    const { entries } = (await ask<History>('GET', `/v1/machines/${id}/history?limit=1`)).body;
    expect(entries.map(({ sentence }) => sentence)).toEqual([
      'deleted by Ada',
      'credential 1 was refused (credential-revoked)',
    ]);
  });

  it('refuses a replay that would end before it begins, and names both ends', async () => {
    const { id } = await plane.join({ name: 'backwards' });
    const between = (from: string, to: string) =>
      ask('GET', `/v1/machines/${id}/history?after=start&from=${from}&to=${to}`);
    expect(await between('2026-11-29T14:00:00Z', '2026-11-29T14:30:00%2B01:00')).toMatchObject({
      status: 422,
      body: { code: 'invalid-body', errors: [{ field: 'to', message: expect.stringContaining('before from') }] },
    });
    expect(await between('2026-11-29T14:00:00Z', '2026-11-29T15:00:00%2B01:00')).toMatchObject({ status: 200 });
  });

  it('asks for the tail of a log once for a repeated command, shows that it waits, and tells who asked (O26)', async () => {
    const { id } = await plane.join({ name: 'talkative' });
    const path = `/v1/machines/${id}/log-tail-requests`;
    const commandId = randomUUID();
    const asked = await ask<LogTailRequestAnswer>('POST', path, { body: { commandId } });
    expect(asked).toMatchObject({ status: 201, body: { machine: { id } } });
    expect(await ask('POST', path, { body: { commandId } })).toEqual(asked);
    const { logTail } = asked.body;
    const shown = async () => {
      await plane.caughtUp();
      return (await ask<MachineDetail>('GET', `/v1/machines/${id}`)).body.machine.requests;
    };
    expect(await shown()).toEqual({ logTail, rotation: null });

    const newer = await ask<LogTailRequestAnswer>('POST', path, { body: { commandId: randomUUID() } });
    expect(newer.body.logTail > logTail).toBe(true);
    expect(await shown()).toEqual({ logTail: newer.body.logTail, rotation: null });
    const history = await ask<History>('GET', `/v1/machines/${id}/history`);
    expect(history.body.entries.map(({ sentence }) => sentence)).toContain('the tail of its log was asked for by Ada');

    const { id: foreign } = await plane.join({ owner: randomUUID(), name: 'foreign' });
    const to = (of: string) =>
      ask('POST', `/v1/machines/${of}/log-tail-requests`, { body: { commandId: randomUUID() } });
    expect(await to(foreign)).toMatchObject({ status: 404, body: { code: 'machine-not-found' } });
    await ask('DELETE', `/v1/machines/${id}`, { body: { commandId: randomUUID() } });
    expect(await to(id)).toMatchObject({ status: 404, body: { code: 'machine-not-found' } });
    expect(await ask('POST', path, { body: { commandId } })).toMatchObject({ status: 404 });
  });

  it('asks for a new credential once, however often it is asked, and tells who did (O19)', async () => {
    const { id } = await plane.join({ name: 'rotating' });
    const path = `/v1/machines/${id}/rotation-requests`;
    const asked = await ask<RotationRequestAnswer>('POST', path, { body: { commandId: randomUUID() } });
    expect(asked).toMatchObject({ status: 201, body: { machine: { id }, rotation: expect.stringMatching(/Z$/) } });
    expect(await ask('POST', path, { body: { commandId: randomUUID() } })).toEqual(asked);
    await plane.caughtUp();
    const { entries } = (await ask<History>('GET', `/v1/machines/${id}/history`)).body;
    expect(entries.filter(({ sentence }) => sentence === 'asked by Ada to replace its credential')).toHaveLength(1);
    await ask('DELETE', `/v1/machines/${id}`, { body: { commandId: randomUUID() } });
    expect(await ask('POST', path, { body: { commandId: randomUUID() } })).toMatchObject({ status: 404 });
  });

  it('shows the newest tail that was received, only to the owner, and forgets it with the machine (O26, O31)', async () => {
    const joined = await plane.join({ name: 'logging' });
    await joined.check();
    const path = `/v1/machines/${joined.id}/log-tail`;
    const request = async () =>
      (await ask<LogTailRequestAnswer>('POST', `${path}-requests`, { body: { commandId: randomUUID() } })).body.logTail;
    const shown = async () => (await ask<LogTailView>('GET', path)).body;
    expect(await shown()).toEqual({ machine: { id: joined.id, name: 'logging' }, requested: null, tail: null });
    const stamp = await request();
    await plane.tails.keep({ machine: joined.id, stamp, bytes: Buffer.from('a\u001b[2Jline\n\xff', 'latin1') });
    // Kept, and not received yet.
    expect(await shown()).toMatchObject({ requested: stamp, tail: null });
    await joined.upload(stamp);
    const newer = await request();
    expect(await shown()).toEqual({
      machine: { id: joined.id, name: 'logging' },
      requested: newer,
      tail: { stamp, receivedAt: expect.stringMatching(/^20\d\d-.*Z$/), log: 'a\u001b[2Jline\n\ufffd' },
    });
    const { id: theirs } = await plane.join({ owner: randomUUID() });
    expect(await ask('GET', `/v1/machines/${theirs}/log-tail`)).toMatchObject({ status: 404 });
    await ask('DELETE', `/v1/machines/${joined.id}`, { body: { commandId: randomUUID() } });
    expect(await shown()).toMatchObject({ requested: null, tail: null });
    expect(await plane.tails.read(joined.id, stamp)).toBeNull();
    // What is left where whoever deleted it did not come to an end goes at the next start.
    for (const machine of [joined.id, theirs]) await plane.tails.keep({ machine, stamp, bytes: Buffer.from('x') });
    await plane.another();
    expect(await plane.tails.read(joined.id, stamp)).toBeNull();
    expect(await plane.tails.read(theirs, stamp)).not.toBeNull();
  });

  it('never says that a machine is deleted which is not: the id of another command is refused', async () => {
    const machine = await plane.join({ name: 'spared' });
    const commandId = randomUUID();
    expect((await rename(machine.id, 'still here', commandId)).status).toBe(200);
    const { status, body } = await ask('DELETE', `/v1/machines/${machine.id}`, { body: { commandId } });
    expect([status, body.errors?.map(({ field }) => field)]).toEqual([422, ['commandId']]);
    await machine.check();
  });

  it.each([
    ['GET', '/v1/machines/%00'],
    ['GET', '/v1/machines/%00/history'],
    ['GET', '/v1/machines/%00/readiness'],
    ['DELETE', '/v1/machines/%00'],
    ['GET', '/v1/machines?name=%00'],
    ['POST', '/v1/read-models/%00/rebuild'],
  ] as const)('refuses a NUL in an address, which no text of the record holds: %s %s (C11)', async (method, path) => {
    const body = method === 'DELETE' ? { commandId: randomUUID() } : undefined;
    expect(await ask(method, path, { body })).toMatchObject({ status: 400, body: { code: 'bad-request' } });
  });
});

describe('read models', () => {
  it('says how far each has come, and rebuilds only what exists (U7)', async () => {
    await plane.caughtUp();
    const { body } = await ask<ReadModelList>('GET', '/v1/read-models');
    expect(body.readModels.map(({ name, lagBatches }) => [name, lagBatches])).toEqual([
      ['absence', '0'],
      ['history', '0'],
      ['presence', '0'],
      ['readiness', '0'],
    ]);
    expect(await ask('POST', '/v1/read-models/nothing/rebuild')).toMatchObject({
      status: 404,
      body: { code: 'read-model-not-found' },
    });
  });
});

describe('counting machines (U3)', () => {
  const presence = (query = '', as = session) => ask<PresenceAnswer>('GET', `/v1/presence${query}`, { bearer: as });

  it('counts by presence, lifecycle and what can work, of exactly the machines that the list shows (U3)', async () => {
    const [free, full] = [await plane.join({ name: 'counted-1' }), await plane.join({ name: 'counted-2' })];
    await plane.join({ name: 'counted-3' });
    const theirs = await plane.join({ name: 'counted-4', owner: randomUUID() });
    await Promise.all([free.check(), full.check({ blockers: ['disk-full'] }), theirs.check()]);
    await plane.caughtUp();
    const { body } = await presence('?name=counted-');
    expect(body).toEqual({
      asOf: expect.stringMatching(/Z$/),
      behind: false,
      total: 3,
      blocked: 1,
      states: [
        { presence: 'not-yet-arrived', lifecycle: null, canTakeWork: false, machines: 1 },
        { presence: 'present', lifecycle: 'running', canTakeWork: false, machines: 1 },
        { presence: 'present', lifecycle: 'running', canTakeWork: true, machines: 1 },
      ],
      blockers: [{ code: 'disk-full', blocksWork: true, machines: 1, present: 1 }],
      page: null,
    });
    const first = (await presence('?name=counted-&lifecycle=running&limit=1')).body;
    expect(first).toMatchObject({ total: 2, page: { next: expect.any(String) } });
    const second = (await presence(`?name=counted-&lifecycle=running&limit=1&after=${first.page?.next}`)).body;
    expect(second).toMatchObject({ total: 2, page: { next: null } });
    expect([first, second].flatMap(({ page }) => page?.machines.map(({ id }) => id))).toEqual(
      [free.id, full.id].sort(),
    );
    // Its hostname, which is nobody's secret, brings no machine of somebody else.
    expect((await presence('?name=ip-10-0-0-7&limit=500')).body.page?.machines.map(({ id }) => id)).not.toContain(
      theirs.id,
    );
    for (const query of ['?lifecycle=asleep', '?label=', '?limit=501'])
      expect((await presence(query)).status).toBe(422);
  });

  it.each(['/v1/presence?name=tagged', '/v1/machines?name=tagged'])(
    'answers %s with a tag, with 304 as long as nothing but the time has changed, and anew when something has (U3)',
    async (path) => {
      const machine = await plane.join({ name: 'tagged' });
      await machine.check();
      await plane.caughtUp();
      const client = new PinnedClient({ origin: plane.api.url, pins: plane.api.pins });
      const get = (ifNoneMatch?: string) =>
        client.request({
          method: 'GET',
          path,
          headers: {
            authorization: `Bearer ${session}`,
            ...(ifNoneMatch === undefined ? {} : { 'if-none-match': ifNoneMatch }),
          },
        });
      const whole = await get();
      const tag = whole.header('etag')[0] ?? '';
      expect(whole.header('cache-control')).toEqual(['private, no-cache']);
      await plane.store.mark(0);
      await plane.caughtUp();
      const unchanged = await get(tag);
      expect([unchanged.status, unchanged.body, unchanged.header('etag')]).toEqual([304, '', [tag]]);
      await machine.check({ blockers: ['clock-wrong'] });
      await plane.caughtUp();
      const changed = await get(tag);
      expect([changed.status, changed.header('etag')[0] === tag]).toEqual([200, false]);
      expect(JSON.parse(changed.body)).toMatchObject({ behind: false });
    },
  );
});

import { afterEach, beforeEach, expect, it, jest } from '@jest/globals';
import { PostgresEventStore } from '@rollcall/event-store-postgres';
import { machine, machineStream } from '@rollcall/machine';
import { HTTP_LIMITS } from '@rollcall/nest-platform';
import { loadOrCreateAuthority } from '@rollcall/plane-ca';
import { hashOf, makeSecret, type CheckAnswer, type EnrolmentAnswer, type Problem } from '@rollcall/wire';
import { once } from 'node:events';
import { mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import type { IncomingMessage } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TLSSocket } from 'node:tls';
import pg from 'pg';
import { freshDatabase, type FreshDatabase } from '../../../test/support/postgres.js';
import { eventually } from '../../../test/support/processes.js';
import { ensureChainKey, readMachineApiConfig, start, type RunningMachineApi } from './index.js';
import { checkBody, issueToken, newInstallation, requestLogTail, type Installation } from './testing/plane.js';

// A database, a certificate and a server per instance: seconds on a busy machine.
jest.setTimeout(60_000);

let directory: string;
let database: FreshDatabase;
let store: PostgresEventStore;
let ca: string;
const running: RunningMachineApi[] = [];

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'machine-api-'));
  database = await freshDatabase();
  store = await PostgresEventStore.connect({ connectionString: database.url });
  await ensureChainKey(join(directory, 'chain.key'));
  ca = (await loadOrCreateAuthority(directory)).certificatePem;
});
afterEach(async () => {
  await Promise.all(running.splice(0).map((one) => one.close()));
  await store.close();
  await database.drop();
  await rm(directory, { recursive: true });
});

const instance = async (over: Record<string, string> = {}): Promise<RunningMachineApi> => {
  const started = await start(
    readMachineApiConfig({
      ROLLCALL_DATABASE_URL: database.url,
      ROLLCALL_MACHINE_API_PORT: '0',
      ROLLCALL_CA_DIR: directory,
      ROLLCALL_CHAIN_KEY_FILE: join(directory, 'chain.key'),
      ROLLCALL_LOG_LEVEL: 'silent',
      ...over,
    }),
  );
  running.push(started);
  return started;
};

type Told<Body> = { status: number; body: Body; text: string; retryAfter: string | undefined; protocol: string | null };
const call = async <Body>(
  to: RunningMachineApi,
  method: string,
  path: string,
  body?: object,
  bearer?: string,
): Promise<Told<Body>> => {
  const headers = { 'content-type': 'application/json', ...(bearer ? { authorization: `Bearer ${bearer}` } : {}) };
  const request = httpsRequest({
    host: '127.0.0.1',
    port: to.port,
    servername: 'localhost',
    ca,
    path,
    method,
    headers,
    agent: false,
  });
  request.end(body && JSON.stringify(body));
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  const protocol = (response.socket as TLSSocket).getProtocol();
  let text = '';
  response.setEncoding('utf8');
  for await (const chunk of response) text += chunk as string;
  return {
    status: response.statusCode ?? 0,
    body: JSON.parse(text) as Body,
    text,
    retryAfter: response.headers['retry-after'],
    protocol,
  };
};
const enrol = (to: RunningMachineApi, token: string, { identifier, credential }: Installation) =>
  call<EnrolmentAnswer & Problem>(to, 'POST', '/v1/enrolments', {
    token,
    identifier,
    credentialHash: hashOf(credential),
    profile: {},
  });
const check = (to: RunningMachineApi, credential: string, body = checkBody()) =>
  call<CheckAnswer & Problem>(to, 'POST', '/v1/check', body, credential);

it('enrols a machine and records its checks, over TLS 1.3 from its own authority, on any of two instances (U9)', async () => {
  const instances = [await instance(), await instance()] as const;
  const installation = newInstallation();
  const { status, body } = await enrol(instances[0], await issueToken(store), installation);
  expect(status).toBe(201);
  let chain: string | null = null;
  for (let sequence = 1; sequence <= 6; sequence += 1) {
    const answer: Told<CheckAnswer> = await check(
      instances[sequence % 2] ?? instances[0],
      installation.credential,
      checkBody({ sequence, chain }),
    );
    expect([answer.status, answer.protocol, answer.body.pins]).toEqual([200, 'TLSv1.3', instances[0].pins]);
    expect(answer.body.chain.split('.')[1]).toBe(String(sequence));
    ({ chain } = answer.body);
  }
  const recorded = await store.readStream(machineStream(body.machine.id));
  expect(recorded.filter(({ kind }) => kind === 'check-in')).toHaveLength(6);
  expect(recorded.map(({ revision }) => revision)).toEqual(recorded.map((_, index) => index + 1));
});

it('admits exactly one of fifty enrolments that arrive together at three instances (C07)', async () => {
  const instances = await Promise.all([instance(), instance(), instance()] as const);
  const token = await issueToken(store);
  const answers = await Promise.all(
    Array.from({ length: 50 }, (_, index) => enrol(instances[index % 3] ?? instances[0], token, newInstallation())),
  );
  expect(answers.filter(({ status }) => status === 201)).toHaveLength(1);
  const unknown = await enrol(instances[0], makeSecret('rce'), newInstallation());
  const words = ({ status, text }: Told<unknown>) => `${status} ${text.replace(/"requestId":"[^"]*"/, '')}`;
  expect(new Set(answers.filter(({ status }) => status !== 201).map(words))).toEqual(new Set([words(unknown)]));
  const facts = (await store.readBatches(0n, 1_000)).flatMap((batch) => batch.facts);
  const admissions = facts.filter((fact) => fact.kind === 'event' && fact.event.type === 'MachineAdmitted');
  expect(admissions).toHaveLength(1);
});

it('leaves nothing half done when the database fails once in the middle of an enrolment (C07)', async () => {
  const plane = await instance();
  const token = await issueToken(store);
  const installation = newInstallation();
  const owner = new pg.Client({ connectionString: database.ownerUrl });
  await owner.connect();
  // A sequence counts failures outside of the transaction that they undo.
  await owner.query('create sequence failures');
  await owner.query(`create function fail_once() returns trigger language plpgsql security definer as $$
    begin
      if new.type = 'MachineAdmitted' and nextval('failures') = 1 then raise exception 'disk' using errcode = '58030'; end if;
      return new;
    end $$`);
  await owner.query('create trigger fail_once after insert on event for each row execute function fail_once()');
  const first = await enrol(plane, token, installation);
  expect([201, 503]).toContain(first.status);
  const { rows } = await owner.query('select last_value, is_called from failures');
  await owner.end();
  expect(rows[0]).toMatchObject({ is_called: true });
  const again = await enrol(plane, token, installation);
  expect(again.status).toBe(first.status === 201 ? 200 : 201);
  expect((await check(plane, installation.credential)).status).toBe(200);
  expect((await enrol(plane, token, newInstallation())).body.code).toBe('token-refused');
  const facts = (await store.readBatches(0n, 1_000)).flatMap((batch) => batch.facts);
  expect(facts.filter((fact) => fact.kind === 'event' && fact.event.type === 'MachineAdmitted')).toHaveLength(1);
});

it('refuses a deleted machine from its next check on, on every instance (O31)', async () => {
  const instances = [await instance(), await instance()] as const;
  const { credential, ...rest } = newInstallation();
  const { body } = await enrol(instances[0], await issueToken(store), { credential, ...rest });
  for (const one of instances)
    expect((await check(one, credential, checkBody({ sequence: instances.indexOf(one) + 1 }))).status).toBe(200);
  const stream = machineStream(body.machine.id);
  await store.decide(machine, { stream }, { type: 'DeleteMachine' }, { actor: { kind: 'person', id: 'person-1' } });
  for (const one of instances)
    expect((await check(one, credential, checkBody({ sequence: 9 }))).body.code).toBe('credential-revoked');
});

it('holds no check up while uploads are slow, and takes them when they come to their end (O13, O26, I16)', async () => {
  const plane = await instance();
  const installation = newInstallation();
  const { body } = await enrol(plane, await issueToken(store), installation);
  const { credential } = installation;
  const { id } = body.machine;
  await check(plane, credential);
  const stamp = await requestLogTail(store, id);
  const bytes = Buffer.alloc(200_000, 'a line\n');
  const put = () => {
    const request = httpsRequest({
      host: '127.0.0.1',
      port: plane.port,
      servername: 'localhost',
      ca,
      path: `/v1/log-tails/${stamp}`,
      method: 'PUT',
      headers: {
        'content-type': 'application/octet-stream',
        'content-length': bytes.length,
        authorization: `Bearer ${credential}`,
      },
      agent: false,
    });
    request.on('error', () => undefined);
    return request;
  };
  // As many as there may be, all in the middle of their bodies; one more is asked to come again.
  const slow = await Promise.all(
    Array.from({ length: HTTP_LIMITS.bytesBodies }, async () => {
      const request = put();
      await new Promise<void>((sent) => void request.write(bytes.subarray(0, 1_000), () => sent()));
      return request;
    }),
  );
  const answerOf = async (request: ReturnType<typeof put>) => {
    const [response] = (await once(request, 'response')) as [IncomingMessage];
    response.resume();
    return response;
  };
  await eventually('one upload too many is refused', async () => {
    const one = put();
    one.write(bytes.subarray(0, 1_000));
    const { statusCode, headers } = await answerOf(one);
    one.destroy();
    return statusCode === 429 && headers['retry-after'] !== undefined;
  });
  for (let sequence = 2; sequence < 10; sequence += 1) {
    const answer = await check(plane, credential, checkBody({ sequence }));
    expect([answer.status, answer.body.requests?.logTail]).toEqual([200, stamp]);
  }
  const [first, ...others] = slow;
  const answered = answerOf(first!);
  first!.end(bytes.subarray(1_000));
  expect((await answered).statusCode).toBe(200);
  for (const other of others) other.destroy();
  expect((await check(plane, credential, checkBody({ sequence: 10 }))).body.requests.logTail).toBeNull();
  const owner = new pg.Client({ connectionString: database.ownerUrl });
  await owner.connect();
  const { rows } = await owner.query('select machine, stamp, bytes from log_tail');
  await owner.end();
  expect(rows).toEqual([{ machine: id, stamp, bytes }]);
});

it('is ready while the record can be reached, and does not start on a database that was not migrated', async () => {
  const plane = await instance();
  expect((await call(plane, 'GET', '/readyz')).status).toBe(200);
  await expect(instance({ ROLLCALL_MIGRATIONS_DIR: join(directory, 'nowhere') })).rejects.toThrow('ENOENT');
  const owner = new pg.Client({ connectionString: database.ownerUrl });
  await owner.connect();
  await owner.query('delete from kysely_migration');
  await owner.end();
  const notReady = await call<Problem>(plane, 'GET', '/readyz');
  expect([notReady.status, notReady.body.detail]).toEqual([503, 'Not ready: migrations.']);
  await expect(instance()).rejects.toThrow('The database has not run these migrations: 0001_');
});

it('marks a record on which nothing happens (B1)', async () => {
  const marked = Promise.withResolvers<void>();
  const before = (await store.newest()).number;
  const stop = store.onAppended(() => marked.resolve());
  await instance({ ROLLCALL_MARK_SECONDS: '0.2' });
  await marked.promise;
  stop();
  expect((await store.newest()).number).toBeGreaterThan(before);
});

it('names a taken port and its setting, and leaves no connection behind', async () => {
  const { port } = await instance();
  await expect(instance({ ROLLCALL_MACHINE_API_PORT: String(port) })).rejects.toThrow(
    `Port ${port} on 127.0.0.1 is taken by another program. Choose another with ROLLCALL_MACHINE_API_PORT.`,
  );
});

it('wants a chain key that only its owner can read', async () => {
  const path = join(directory, 'chain.key');
  expect((await stat(path)).mode & 0o777).toBe(0o600);
  await expect(instance({ ROLLCALL_CHAIN_KEY_FILE: join(directory, 'none.key') })).rejects.toThrow(
    'There is no chain key at',
  );
  const short = join(directory, 'short.key');
  await writeFile(short, `${Buffer.alloc(31, 7).toString('base64url')}\n`, { mode: 0o600 });
  await expect(instance({ ROLLCALL_CHAIN_KEY_FILE: short })).rejects.toThrow('is shorter than 32 bytes');
});

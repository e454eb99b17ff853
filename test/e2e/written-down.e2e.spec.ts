import { spawn } from 'node:child_process';
import { createPrivateKey, randomUUID } from 'node:crypto';
import { appendFile, readFile, stat, writeFile } from 'node:fs/promises';
import { request } from 'node:https';
import { connect as connectTcp } from 'node:net';
import { join } from 'node:path';
import { connect as connectTls } from 'node:tls';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { connect as connectNats } from '@nats-io/transport-node';
import { issueSignInLink, signInAddress } from '@rollcall/first-person';
import { decodeEnrolmentToken, hashOf, makeSecret, type MachineList } from '@rollcall/wire';
import { HandMadeMachine, type Send } from '../support/hand-made-machine.js';
import { startNats, type TestNats } from '../support/nats.js';
import { ownCluster, type OwnCluster } from '../support/own-cluster.js';
import { placesOfDatabase, placesOfFiles, placesOfMessages, ProcessWatch, type Place } from '../support/places.js';
import { balance, MACHINE_ADDRESS, QUICK, startPlane, type ProcessPlane } from '../support/plane.js';
import { eventually } from '../support/processes.js';
import { startTraceCollector, type TraceCollector } from '../support/trace-collector.js';
import { foundIn, spellingsOf, spellingsOfAddress, type Sought } from '../support/spellings.js';

/** What Postgres writes into its log: every statement with its values, and who connects. */
const TALKATIVE = {
  log_statement: 'all',
  log_min_duration_statement: '0',
  log_connections: 'on',
  log_error_verbosity: 'verbose',
};
const BUSY_MS = 60_000;

let begun: AsyncDisposableStack;
let cluster: OwnCluster;
let nats: TestNats;
let collector: TraceCollector;
let plane: ProcessPlane;
let people: Awaited<ReturnType<typeof balance>>;
let watch: ProcessWatch;
/** Where the services listen, without anything in between. */
let origins: { readonly machine: readonly string[]; readonly operator: string };
/** What programs said that a person or a service manager started. */
const said: Place[] = [];
const scrapes: Place[] = [];
/** Secrets that were handed out on the way. */
const handedOut: { readonly name: string; readonly secret: string }[] = [];

beforeAll(async () => {
  begun = new AsyncDisposableStack();
  cluster = begun.adopt(await ownCluster(TALKATIVE), ({ database }) => database.drop());
  nats = begun.adopt(await startNats(), (server) => server.close());
  collector = begun.adopt(await startTraceCollector(), (server) => server.close());
  watch = begun.use(new ProcessWatch());
  const options = {
    quietMs: 15_000,
    // It goes after the plane, which looks into it at the end.
    database: { ...cluster.database, drop: () => Promise.resolve() },
    settings: {
      ...cluster.settings,
      ROLLCALL_LOG_LEVEL: 'trace',
      ROLLCALL_METRICS_PORT: '0',
      ROLLCALL_TRACES_URL: collector.url,
      ROLLCALL_TRACES_SHARE: '1',
    },
    projector: {
      ROLLCALL_NATS_URL: nats.url,
      ROLLCALL_NATS_RELAY_CREDENTIALS_FILE: nats.credentials.relay,
      ROLLCALL_NATS_READER_CREDENTIALS_FILE: nats.credentials.projector,
      ROLLCALL_NATS_EVENTS_MIB: '16',
      ROLLCALL_NATS_BATCHES_MIB: '16',
    },
  };
  plane = begun.adopt(await startPlane(QUICK, options), (started) => started.close());
  const origin = async (service: ProcessPlane['operatorApi'], message: string) =>
    (await service.waitFor(new RegExp(`"url":"([^"]+)","msg":"${message}"`)))[1] ?? '';
  origins = {
    machine: await Promise.all(plane.machineApis.map((service) => origin(service, 'machines can check in'))),
    operator: await origin(plane.operatorApi, 'the operator API answers'),
  };
  const place = [Number(new URL(origins.operator).port)];
  people = begun.adopt(await balance(place, 15_000), (balancer) => balancer.close());
  await everythingHappens();
}, 240_000);
afterAll(() => begun.disposeAsync(), 60_000);

/** All that machines, people and strangers do with a plane, all of them from one address; and what goes wrong meanwhile. */
const everythingHappens = async (): Promise<void> => {
  const { secret } = await issueSignInLink(plane.store, plane.personId);
  handedOut.push({ name: 'sign-in link', secret });
  const place = { operatorApi: `https://127.0.0.1:${people.port}`, pins: plane.machineApi.pins };
  expect(await plane.signIn(signInAddress(secret, place))).toMatchObject({ code: 0 });
  expect(await plane.signIn(signInAddress(secret, place))).toMatchObject({ code: 3 });

  await agents();
  const machine = await joinByHand();
  await strangers(machine);
  await faults(machine);
  await asPerson('machines', 'delete', machine.id, '--yes');
  expect(await machine.check()).toBe(410);
  await noted();
};

const token = async (): Promise<string> => {
  const { stdout, code } = await plane.cli('token', 'issue');
  expect(code).toBe(0);
  const whole = stdout.trim();
  handedOut.push({ name: 'enrolment token', secret: decodeEnrolmentToken(whole).secret });
  return whole;
};

/** Runs `rollcall`, which has to succeed. */
const asPerson = async (...args: readonly string[]): Promise<string> => {
  const ran = await plane.cli(...args);
  said.push({ where: `output of rollcall ${args.join(' ')}`, bytes: Buffer.from(ran.output) });
  expect([args.join(' '), ran.code, ran.code === 0 ? '' : ran.output]).toEqual([args.join(' '), 0, '']);
  return ran.stdout;
};

/** Real agents: one that joins, runs and is asked for its log, and others that are not let in. */
const agents = async (): Promise<void> => {
  const enrol = async (name: string, text: string) => {
    const ran = await plane.agent(name, ['enrol'], text);
    said.push({ where: `output of rollcall-agent enrol (${name})`, bytes: Buffer.from(ran.output) });
    return ran.code;
  };
  const good = await token();
  expect(await enrol('one', good)).toBe(0);
  expect(await enrol('two', good)).toBe(4);
  expect(await enrol('three', `${good}0`)).toBe(2);
  const agent = await plane.runAgent('one');
  const id = await eventuallyPresent();
  await asPerson('machines', 'request-log', id);
  await eventually('the log of the agent is there', async () => (await plane.cli('machines', 'log', id)).code === 0);
  await asPerson('machines', 'log', id);
  await asPerson('machines', 'show', id);
  await asPerson('machines', 'rename', id, 'the first');
  for (const args of [['history', id], ['readiness', id], ['blockers'], ['machines'], ['read-models', 'status']])
    await asPerson(...args);
  said.push({
    where: 'log of the agent',
    get bytes() {
      return Buffer.from(agent.output());
    },
  });
};

const eventuallyPresent = async (): Promise<string> => {
  let id = '';
  await eventually(
    'the machine is present',
    async () => {
      const { machines } = JSON.parse((await plane.cli('machines', '--json')).stdout) as MachineList;
      const present = machines.find(({ presence }) => presence === 'present');
      id = present?.id ?? '';
      return present !== undefined;
    },
    BUSY_MS,
  );
  return id;
};

/** What names an address in a request, for whoever believes it. */
const NAMING = {
  'x-forwarded-for': `${MACHINE_ADDRESS}, ${MACHINE_ADDRESS}`,
  forwarded: `for=${MACHINE_ADDRESS};by=${MACHINE_ADDRESS}`,
  'x-real-ip': MACHINE_ADDRESS,
  'cf-connecting-ip': MACHINE_ADDRESS,
  origin: `https://${MACHINE_ADDRESS}`,
  referer: `https://${MACHINE_ADDRESS}/`,
  'user-agent': `curl/8 (${MACHINE_ADDRESS})`,
};

type Asking = {
  readonly method?: string;
  readonly credential?: string;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
};

/** One request from the machine's address that names it in every header; resolves to status and body, and to 0 where there is no answer. */
const ask = (
  url: string,
  { method = 'GET', credential, body, headers = {} }: Asking = {},
): Promise<{ status: number; body: unknown }> =>
  new Promise((done) => {
    const raw = typeof body === 'string' || Buffer.isBuffer(body) ? body : JSON.stringify(body);
    const outgoing = request(
      url,
      {
        method,
        rejectUnauthorized: false,
        localAddress: MACHINE_ADDRESS,
        agent: false,
        headers: {
          ...NAMING,
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
          ...(credential === undefined ? {} : { authorization: `Bearer ${credential}` }),
          ...headers,
        },
      },
      (answer) => {
        const chunks: Buffer[] = [];
        answer.on('data', (chunk: Buffer) => chunks.push(chunk));
        answer.on('error', () => done({ status: 0, body: null }));
        answer.on('end', () => {
          const text = Buffer.concat(chunks).toString();
          done({ status: answer.statusCode ?? 0, body: text.startsWith('{') ? (JSON.parse(text) as unknown) : text });
        });
      },
    );
    outgoing.on('error', () => done({ status: 0, body: null }));
    outgoing.end(raw);
  });

/** Joins with a token of its own, then tries it again: from the same installation, and from another one. */
const joinByHand = async (): Promise<HandMadeMachine> => {
  let turn = 0;
  const send: Send = (method, path, { credential, headers, body }) =>
    ask(`${origins.machine[(turn += 1) % 2]}${path}`, {
      method,
      body,
      ...(credential === undefined ? {} : { credential }),
      ...(headers ? { headers } : {}),
    });
  const machine = await HandMadeMachine.join(await token(), send);
  handedOut.push({ name: 'machine credential', secret: machine.credential });
  const others = { ...machine.enrolment, credentialHash: hashOf(makeSecret('rcm')) };
  expect(await send('POST', '/v1/enrolments', { body: machine.enrolment })).toMatchObject({ status: 200 });
  expect(await send('POST', '/v1/enrolments', { body: others })).toMatchObject({ status: 403 });
  expect([await machine.check(), await machine.check()]).toEqual([200, 200]);
  return machine;
};

/** What nobody should send, to each of the services. */
const strangers = async (machine: HandMadeMachine): Promise<void> => {
  expect(await machine.check({ sequence: 1, boot: { counter: 0, id: '00000000' } })).toBeGreaterThan(399); // stale
  expect(await machine.check({ address: MACHINE_ADDRESS })).toBe(200); // passed over
  expect(await machine.check({ boot: MACHINE_ADDRESS })).toBe(422);
  expect(await machine.upload('20260101T000000.000Z')).toBeGreaterThan(399);
  for (const origin of [...origins.machine, origins.operator]) {
    const path = origin === origins.operator ? '/v1/machines' : '/v1/check';
    const url = `${origin}${path}`;
    const post = (body: unknown, more: Asking = {}) => ask(url, { method: 'POST', body, ...more });
    const statuses = [
      await ask(url, { credential: makeSecret('rcm') }),
      await ask(url, { credential: machine.credential }), // the right one, in the wrong way
      await ask(url, { credential: machine.credential.slice(0, -1) }),
      await ask(`${url}?credential=${machine.credential}&from=${MACHINE_ADDRESS}`, { method: 'DELETE' }),
      await ask(`${origin}/v1/${MACHINE_ADDRESS}/${machine.credential}`),
      await ask(`${origin}/%00${MACHINE_ADDRESS}`),
      await post('{"broken', { credential: machine.credential }),
      await post({ credential: machine.credential, said: MACHINE_ADDRESS }),
      await post({ filler: 'x'.repeat(200_000) }, { credential: machine.credential }),
      await post('a=b', { headers: { 'content-type': 'text/plain' } }),
      await ask(url, { method: 'MKCALENDAR' }),
      await ask(url, { headers: { 'x-long': MACHINE_ADDRESS.repeat(4_000) } }),
      await ask(url, { headers: { expect: MACHINE_ADDRESS } }),
    ].map(({ status }) => status);
    expect(statuses.filter((status) => status !== 0 && (status < 400 || status > 499))).toEqual([]);
    expect(statuses.filter((status) => status === 0).length).toBeLessThan(3); // A connection that was cut: too large, or no method at all.
    await torn(Number(new URL(origin).port), machine.credential);
  }
};

/** Connections that never become a request. */
const torn = async (port: number, credential: string): Promise<void> => {
  const place = { host: '127.0.0.1', port, localAddress: MACHINE_ADDRESS };
  const head = `POST /v1/check HTTP/1.1\r\nhost: plane\r\nauthorization: Bearer ${credential}\r\nx-forwarded-for: ${MACHINE_ADDRESS}\r\n`;
  const plain = [head, '', Buffer.from('160301020001000200', 'hex'), Buffer.from(MACHINE_ADDRESS)];
  const encrypted = [
    `GET / HTTP/1.1\r\nbroken header of ${MACHINE_ADDRESS}\r\n\r\n`,
    `${head}content-length: 1000\r\n\r\nonly this`,
    `${head}transfer-encoding: chunked\r\n\r\nZZ\r\n${MACHINE_ADDRESS}`,
    `${MACHINE_ADDRESS}\r\n\r\n`,
  ];
  const open = [
    ...plain.map((text) => [connectTcp(place), text] as const),
    ...encrypted.map(
      (text) =>
        [connectTls({ ...place, rejectUnauthorized: false, servername: `${MACHINE_ADDRESS}.example` }), text] as const,
    ),
  ];
  const ends = open.map(
    ([socket, text]) =>
      new Promise<void>((done) => {
        socket.on('error', () => undefined);
        socket.on('close', () => done());
        // An answer, or nothing: after a moment it is cut in the middle of whatever it was.
        socket.on('data', () => socket.destroy());
        socket.setTimeout(300, () => socket.destroy());
        socket.write(text);
      }),
  );
  await Promise.all(ends);
};

/** Faults with causes, which are logged: a right that is missing, a database and a NATS that are away. */
const faults = async (machine: HandMadeMachine): Promise<void> => {
  await asPerson('machines', 'request-log', machine.id);
  expect(await machine.check()).toBe(200);
  await cluster.query('revoke all on log_tail from rollcall_app');
  expect(await machine.upload()).toBe(500);
  await cluster.query('grant select, insert, delete on log_tail to rollcall_app');
  expect(await machine.upload()).toBe(200);

  await Promise.all([cluster.stop('immediate'), nats.server.kill()]);
  expect(await machine.check()).toBe(503);
  const enrolment = {
    token: makeSecret('rce'),
    identifier: randomUUID(),
    credentialHash: hashOf(MACHINE_ADDRESS),
    profile: {},
  };
  expect((await ask(`${origins.machine[0]}/v1/enrolments`, { method: 'POST', body: enrolment })).status).toBe(503);
  const link = { link: makeSecret('rcl') };
  expect((await ask(`${origins.operator}/v1/sessions`, { method: 'POST', body: link })).status).toBe(503);
  expect((await plane.cli('machines')).code).toBe(1);
  await Promise.all([cluster.start(), nats.server.start()]);
  await eventually('checks are recorded again', async () => (await machine.check()) === 200, BUSY_MS);
};

/** Waits until all that happened was shown and published, and looks at the metrics then. */
const noted = async (): Promise<void> => {
  const { number } = await plane.store.newest();
  const [behind] = ['select least((select min(checkpoint) from read_model), (select min(number) from relay_cursor))'];
  await eventually(
    'all of it is shown and published',
    async () => {
      const { rows } = await cluster.query(`${behind} >= ${number} as done`);
      return (rows as { done: boolean }[])[0]?.done === true;
    },
    BUSY_MS,
  );
  for (const service of [...plane.machineApis, plane.operatorApi, plane.projector]) {
    const [, url = ''] = await service.waitFor(/"url":"(http:[^"]+)","msg":"metrics can be scraped"/);
    scrapes.push({ where: `metrics of ${service.name}`, bytes: Buffer.from(await (await fetch(url)).text()) });
  }
};

const services = () => [...plane.machineApis, plane.operatorApi, plane.projector];

/** Everything that was written down since the plane was started. */
async function* everyPlace(): AsyncGenerator<Place> {
  yield* placesOfDatabase(cluster.database.ownerUrl, cluster.directory);
  yield* placesOfFiles('NATS', nats.directory);
  yield* placesOfMessages(nats);
  yield* placesOfFiles('plane', plane.directory);
  for (const service of services()) yield { where: `log of ${service.name}`, bytes: Buffer.from(service.output()) };
  yield* said;
  yield* scrapes;
  yield { where: 'spans', bytes: Buffer.from(collector.text()) };
  yield* watch.places;
}

/** Kinds of places: whatever is searched has to be there. */
const KINDS = [
  'table',
  'database file',
  'NATS file',
  'message',
  'plane file',
  'log of',
  'output of',
  'metrics of',
  'span',
  'cmdline',
  'environ',
];

/** Searches everywhere, and tells what stands where. @param isAllowed where something may stand */
const search = async (
  sought: readonly Sought[],
  isAllowed: (name: string, place: Place) => boolean = () => false,
): Promise<{ readonly found: readonly string[]; readonly kinds: readonly string[] }> => {
  const found: string[] = [];
  const kinds = new Set<string>();
  for await (const place of everyPlace()) {
    const kind = KINDS.find((word) => place.where.startsWith(word));
    if (kind && place.bytes.length > 0) kinds.add(kind);
    for (const { name } of foundIn(place.bytes, sought))
      if (!isAllowed(name, place)) found.push(`${name} in ${place.where}`);
  }
  return { found, kinds: KINDS.filter((kind) => kinds.has(kind)) };
};

const ADDRESS: Sought = { name: 'the address', spellings: spellingsOfAddress(MACHINE_ADDRESS) };

describe('what a plane writes down', () => {
  it('is the address of no machine and no person, in whatever spelling and whatever happened (O2)', async () => {
    expect(await search([ADDRESS])).toEqual({ found: [], kinds: KINDS });
  }, 120_000);

  it('is none of its secrets, but for the owner-only files that keep them (I10)', async () => {
    const { sought, files } = await secrets();
    expect(sought.length).toBeGreaterThan(15);
    const fileOf = ({ where }: Place) => where.slice(where.indexOf('file ') + 5);
    expect(await search(sought, (name, place) => files.get(name)?.includes(fileOf(place)) ?? false)).toEqual({
      found: [],
      kinds: KINDS,
    });
    for (const path of new Set([...files.values()].flat()))
      expect([path, (await stat(path)).mode & 0o777]).toEqual([path, 0o600]);
  }, 120_000);

  it('would be found in each of these places (O2, I10)', async () => {
    await plant();
    const { found } = await search([ADDRESS, { name: 'a secret', spellings: spellingsOf(Buffer.from(PLANTED)) }]);
    for (const name of ['the address', 'a secret'])
      for (const kind of KINDS)
        expect(found.filter((what) => what.startsWith(`${name} in ${kind}`)).length).toBeGreaterThan(0);
  }, 120_000);
});

const PLANTED = makeSecret('rcm');

/** Writes the address and a secret into each kind of place, in different spellings. */
const plant = async (): Promise<void> => {
  const told = `${PLANTED} from ${MACHINE_ADDRESS}`;
  const inHex = `${Buffer.from(PLANTED).toString('hex')} 7F00004D`;
  const inBase64 = Buffer.from(told).toString('base64');
  await cluster.query('create table planted (address inet, said bytea)');
  await cluster.query(`insert into planted values ('${MACHINE_ADDRESS}', '${PLANTED}')`);
  await writeFile(join(nats.server.storeDirectory, 'planted'), `noise${inBase64}noise`);
  await writeFile(join(plane.directory, 'planted'), inHex);
  const admin = await connectNats({ servers: nats.url, user: 'admin', pass: await nats.password('admin') });
  const subject = `rollcall.machine.Planted.${randomUUID()}`;
  await admin.request(subject, told);
  await admin.close();
  await appendFile(join(cluster.directory, 'postgres.log'), told);
  for (const { name } of services()) said.push({ where: `log of ${name}`, bytes: Buffer.from(told) });
  said.push({ where: 'output of something', bytes: Buffer.from(inHex) });
  scrapes.push({ where: 'metrics of something', bytes: Buffer.from(`m{a="${told}"} 1`) });
  await fetch(collector.url, { method: 'POST', body: inBase64 });
  const child = spawn(process.execPath, ['-e', 'setInterval(() => 0, 1000)', told], {
    env: { TOLD: inBase64 },
    stdio: 'ignore',
  });
  await eventually('the process was seen', () =>
    Promise.resolve(
      watch.places.filter(({ bytes, where }) => where.endsWith(` ${child.pid}`) && foundIn(bytes, [ADDRESS]).length > 0)
        .length === 2,
    ),
  );
  child.kill('SIGKILL');
};

/** All that must stay secret, with the files that may hold it. */
const secrets = async (): Promise<{ sought: readonly Sought[]; files: ReadonlyMap<string, readonly string[]> }> => {
  const sought: Sought[] = [];
  const files = new Map<string, readonly string[]>();
  const add = (name: string, secret: string | Buffer, ...paths: readonly string[]) => {
    const numbered = `${name} (${sought.length + 1})`;
    const bytes = Buffer.from(secret as string);
    sought.push({ name: numbered, spellings: spellingsOf(bytes) });
    files.set(numbered, paths);
  };
  /** A secret of ours: without its prefix, which may be cut off; and the number that its digits write. */
  const addOwn = (name: string, secret: string, ...paths: readonly string[]) => {
    const digits = secret.slice(4, 47);
    add(name, digits, ...paths);
    add(`${name}, its number`, numberOf(digits), ...paths);
  };
  const at = (...path: readonly string[]) => join(plane.directory, ...path);
  const text = (path: string) => readFile(path, 'utf8');

  const credential = at('one', 'credential');
  addOwn('credential of the agent', /rcm_\w+/.exec(await text(credential))?.[0] ?? '', credential);
  const session = at('cli', 'session.json');
  addOwn('session', /rco_\w+/.exec(await text(session))?.[0] ?? '', session);
  for (const { name, secret } of handedOut) addOwn(name, secret);
  const control = at('one', 'control-token');
  const controlToken = (await text(control)).trim();
  add('control token', controlToken, control);
  add('control token, its bytes', Buffer.from(controlToken, 'base64url'), control);

  const chain = at('chain.key');
  add('chain key', Buffer.from((await text(chain)).trim(), 'base64url'), chain);
  for (const name of ['authority', 'machine-api', 'operator-api']) {
    const path = at('ca', `${name}.pem`);
    const pem = await text(path);
    const [, body = ''] = /PRIVATE KEY-----\n([\s\S]+?)-----END/.exec(pem) ?? [];
    for (const line of body.split('\n').filter((one) => one.length >= 40)) add(`key of ${name}, a line`, line, path);
    const { d = '' } = createPrivateKey(pem).export({ format: 'jwk' });
    add(`key of ${name}`, Buffer.from(d, 'base64url'), path);
  }
  const { directory, settings } = cluster;
  add(
    'password of the services',
    (await text(settings.ROLLCALL_DATABASE_PASSWORD_FILE)).trim(),
    settings.ROLLCALL_DATABASE_PASSWORD_FILE,
  );
  add('password of the owner', await text(join(directory, 'password')), join(directory, 'password'));
  for (const user of ['relay', 'projector', 'subscriber'] as const)
    add(
      `password of ${user}`,
      await nats.password(user),
      nats.credentials[user],
      join(nats.directory, 'nats-server.conf'),
    );
  return { sought, files };
};

const DIGITS = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

/** The 256 bits behind 43 digits of base 62. */
const numberOf = (digits: string): Buffer => {
  const value = Array.from(digits).reduce((sum, digit) => sum * 62n + BigInt(DIGITS.indexOf(digit)), 0n);
  return Buffer.from(value.toString(16).padStart(64, '0'), 'hex');
};

import { randomUUID } from 'node:crypto';
import { request } from 'node:https';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { READ_MODELS } from '@rollcall/read-models';
import { decodeEnrolmentToken, hashOf, makeSecret } from '@rollcall/wire';
import { startNats, type TestNats } from '../support/nats.js';
import { Owner } from '../support/owner.js';
import { QUICK, startPlane, type ProcessPlane } from '../support/plane.js';
import { eventually, freePort } from '../support/processes.js';
import { startTraceCollector, type CollectedSpan, type TraceCollector } from '../support/trace-collector.js';

const root = resolve(import.meta.dirname, '../..');
const CHECK = 'POST /v1/check';
/** What a stranger writes wherever a request has room for it. */
const CANARY = 'canary7f3a';
/** The trace that a machine believes to be in, and wants to be followed in. */
const STRANGERS = '0af7651916cd43dd8448eb211c80319c';

let nats: TestNats;
let plane: ProcessPlane;
let collector: TraceCollector;
/** Of the machine. */
let credential: string;
let sequence = 0;

beforeAll(async () => {
  [nats, collector] = await Promise.all([startNats(), startTraceCollector()]);
  plane = await startPlane(QUICK, {
    quietMs: 10_000,
    settings: { ROLLCALL_TRACES_URL: collector.url, ROLLCALL_TRACES_SHARE: '1', ROLLCALL_LOG_LEVEL: 'debug' },
    projector: {
      ROLLCALL_NATS_URL: nats.url,
      ROLLCALL_NATS_RELAY_CREDENTIALS_FILE: nats.credentials.relay,
      ROLLCALL_NATS_READER_CREDENTIALS_FILE: nats.credentials.projector,
      ROLLCALL_NATS_EVENTS_MIB: '16',
      ROLLCALL_NATS_BATCHES_MIB: '16',
    },
  });
  credential = makeSecret('rcm');
  const token = decodeEnrolmentToken(await plane.enrolmentToken()).secret;
  const enrolment = { token, identifier: randomUUID(), credentialHash: hashOf(credential), profile: {} };
  expect(await post('/v1/enrolments', enrolment)).toBe(201);
}, 180_000);
afterAll(async () => {
  await plane.close();
  await nats.close();
  await collector.close();
}, 60_000);

/** Posts with everything that a stranger may add to it. @returns the status */
const post = (path: string, body: object, { bearer = '', origin = plane.machineApi.url } = {}): Promise<number> =>
  new Promise((done, failed) => {
    const headers = {
      'content-type': 'application/json',
      ...(bearer ? { authorization: `Bearer ${bearer}` } : {}),
      traceparent: `00-${STRANGERS}-b7ad6b7169203331-01`,
      tracestate: `${CANARY}=1`,
      baggage: `${CANARY}=1`,
      'user-agent': CANARY,
    };
    const options = { method: 'POST', headers, rejectUnauthorized: false, agent: false };
    const asking = request(`${origin}${path}`, options, (answer) => {
      answer.resume();
      answer.on('end', () => done(answer.statusCode ?? 0));
    });
    asking.on('error', failed);
    asking.end(JSON.stringify(body));
  });

/** The machine checks in. @returns the batch that recorded it */
const check = async (origin?: string): Promise<number> => {
  sequence += 1;
  const checkId = randomUUID();
  const body = { boot: { counter: 1, id: '0000000a' }, sequence, checkId, said: 'running', name: CANARY };
  const place = origin === undefined ? {} : { origin };
  expect(await post(`/v1/check?${CANARY}`, body, { bearer: credential, ...place })).toBe(200);
  const batches = await plane.store.readBatches(0n, 10_000);
  const recorded = batches.find(({ facts }) =>
    facts.some((fact) => fact.kind === 'check-in' && fact.checkIn.checkId === checkId),
  );
  return Number(recorded?.number);
};

/** The spans of the trace that a batch belongs to, once those of these names are among them. */
const traceOf = async (batch: number, wanted: readonly string[]): Promise<readonly CollectedSpan[]> => {
  let trace: readonly CollectedSpan[] = [];
  await eventually(`${wanted.join(', ')} of batch ${batch}`, () => {
    const spans = collector.spans();
    const append = spans.find(({ name, attributes }) => name === 'append' && attributes['rollcall.batch'] === batch);
    trace = spans.filter(({ traceId }) => traceId === append?.traceId);
    return Promise.resolve(wanted.every((each) => trace.some(({ name }) => name === each)));
  });
  return trace;
};

/** Whoever looks for notices is traced as the read models are. */
const projections = [...READ_MODELS.map(({ name }) => name), 'webhooks'].map((name) => `project ${name}`);

describe('the trace of a check', () => {
  it('goes from the request through its append to the relay and each read model, over processes', async () => {
    const batch = await check();
    const trace = await traceOf(batch, [CHECK, 'append', 'publish', ...projections]);
    const one = (name: string) => trace.filter((span) => span.name === name);
    const [asked, append] = [one(CHECK)[0], one('append')[0]];
    expect(asked).toMatchObject({
      service: 'machine-api',
      parent: null,
      attributes: { 'http.route': '/v1/check', 'http.response.status_code': 200 },
    });
    const recorded = { 'rollcall.batch': batch, 'rollcall.facts': expect.any(Number) };
    expect(append).toMatchObject({ service: 'machine-api', parent: asked?.id, attributes: recorded });
    for (const name of ['publish', ...projections])
      expect(one(name)).toMatchObject([{ service: 'projector', parent: append?.id, attributes: recorded }]);
    expect(trace).toHaveLength(3 + projections.length);
  });

  it('is the trace of its line in the log', async () => {
    const [{ traceId }] = (await traceOf(await check(), [CHECK, 'append'])) as [CollectedSpan];
    const line = new RegExp(`"requestId":"[^"]+","traceId":"${traceId}","method":"POST","route":"/v1/check"`);
    const [found] = await Promise.any(plane.machineApis.map((instance) => instance.waitFor(line)));
    expect(found).toContain(traceId);
  });

  it('is begun by the plane, whatever trace the machine believes to be in', async () => {
    await traceOf(await check(), [CHECK, 'append', 'publish', ...projections]);
    expect(collector.text()).not.toContain(STRANGERS);
    expect(collector.text()).not.toContain('b7ad6b7169203331');
  });

  it('is made where no NATS is, by a read model that follows the record', async () => {
    await nats.server.kill();
    const batch = await check();
    const trace = await traceOf(batch, [CHECK, 'append', ...projections]);
    const append = trace.find(({ name }) => name === 'append');
    for (const projection of projections)
      expect(trace.filter(({ name }) => name === projection)).toMatchObject([
        { service: 'projector', parent: append?.id, attributes: { 'rollcall.batch': batch } },
      ]);
    await nats.server.start();
  });

  it('is not made by an instance that follows none, in no process, though the machine asks for it', async () => {
    const port = await freePort();
    const program = [join(root, 'dist/apps/machine-api/main.js')];
    const untraced = await plane.processes.start('machine-api', process.execPath, program, {
      env: { ...plane.environment, ROLLCALL_TRACES_SHARE: '0', ROLLCALL_MACHINE_API_PORT: String(port) },
      ready: /machines can check in/,
      readyWithin: 60_000,
    });
    const silent = await check(`https://127.0.0.1:${port}`);
    await untraced.stop();
    await traceOf(await check(), [CHECK, 'append', ...projections]);
    const [batch] = await plane.store.readBatches(BigInt(silent - 1), 1);
    expect(batch).toMatchObject({ number: BigInt(silent), trace: null });
    expect(collector.spans().filter(({ attributes }) => attributes['rollcall.batch'] === silent)).toEqual([]);
    expect(untraced.output()).not.toContain('traceId');
  });
});

describe('the traces of a plane', () => {
  it('hold what people do, and their events name the trace', async () => {
    expect(await plane.cli('login', await plane.link())).toMatchObject({ code: 0 });
    await eventually('the machine is there', async () => (await plane.cli('machines', 'show', CANARY)).code === 0);
    expect(await plane.cli('machines', 'rename', CANARY, `${CANARY}-2`)).toMatchObject({ code: 0 });
    const batches = await plane.store.readBatches(0n, 10_000);
    const renamed = batches.findLast(({ facts }) =>
      facts.some((fact) => fact.kind === 'event' && fact.event.type === 'MachineRenamed'),
    );
    const trace = await traceOf(Number(renamed?.number), ['PATCH /v1/machines/:machine', 'append']);
    const asked = trace.find(({ parent }) => parent === null);
    expect(asked).toMatchObject({ service: 'operator-api', name: 'PATCH /v1/machines/:machine' });
    await using owner = await Owner.connect(plane.database.ownerUrl);
    expect(await owner.value(`select trace from event where type = 'MachineRenamed'`)).toBe(
      `00-${asked?.traceId}-${asked?.id}-01`,
    );
  });

  it('hold no address, no credential, and nothing that a stranger wrote (O2, I10)', async () => {
    await post(`/v1/${CANARY}?${CANARY}`, { [CANARY]: CANARY }, { bearer: CANARY });
    await eventually('it was followed', () =>
      Promise.resolve(collector.spans().some(({ name }) => name === 'no route')),
    );
    const never = ['127.0.0.', CANARY, STRANGERS, credential, hashOf(credential), plane.personId, 'Ada'];
    expect(never.filter((word) => collector.text().includes(word))).toEqual([]);
  });

  it('keep no service from its work or its end when the collector hangs', async () => {
    collector.hang();
    for (let checks = 0; checks < 20; checks += 1) await check();
    for (const service of [...plane.machineApis, plane.operatorApi, plane.projector])
      expect(await service.stop()).toEqual({ code: 0, signal: null });
    const told = plane.machineApis.map((instance) => instance.output()).join('');
    expect(told).toContain('spans are lost');
  });
});

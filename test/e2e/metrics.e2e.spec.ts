import { execFile } from 'node:child_process';
import { readdir, readFile } from 'node:fs/promises';
import { request } from 'node:https';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { makeSecret, type MachineList } from '@rollcall/wire';
import { startNats, type TestNats } from '../support/nats.js';
import { MACHINE_ADDRESS, QUICK, startPlane, type ProcessPlane } from '../support/plane.js';
import { eventually, type Running } from '../support/processes.js';
import { requireSystemTool } from '../support/system-tool.js';

const root = resolve(import.meta.dirname, '../..');
const ALERTS = join(root, 'infra/prometheus/alerts.yml');
const ALERT_TESTS = join(root, 'infra/prometheus/alerts.test.yml');
const DASHBOARD = join(root, 'infra/grafana/rollcall.json');
const OPERATING = join(root, 'docs/operating.md');

/** What a stranger writes wherever a request has room for it. */
const CANARY = 'canary7f3a';

let nats: TestNats;
let plane: ProcessPlane;
let scrapes: readonly string[];
/** The families of all scrapes, with what a histogram's samples are called. */
let families: readonly string[];
let samples: ReadonlySet<string>;
let machineId: string;

beforeAll(async () => {
  [nats] = await Promise.all([startNats(), requireSystemTool('promtool', 'prometheus')]);
  plane = await startPlane(QUICK, {
    settings: { ROLLCALL_METRICS_PORT: '0' },
    projector: {
      ROLLCALL_NATS_URL: nats.url,
      ROLLCALL_NATS_RELAY_CREDENTIALS_FILE: nats.credentials.relay,
      ROLLCALL_NATS_READER_CREDENTIALS_FILE: nats.credentials.projector,
      ROLLCALL_NATS_EVENTS_MIB: '16',
      ROLLCALL_NATS_BATCHES_MIB: '16',
    },
  });
  await traffic();
  const services = [...plane.machineApis, plane.operatorApi, plane.projector];
  scrapes = await Promise.all(services.map(async (service) => (await fetch(await metricsOf(service))).text()));
  const lines = scrapes.flatMap((text) => text.split('\n'));
  families = [...new Set(lines.flatMap((line) => /^# TYPE (\S+)/.exec(line)?.[1] ?? []))];
  samples = new Set(lines.flatMap((line) => /^[a-z]\w*/.exec(line)?.[0] ?? []));
}, 180_000);
afterAll(async () => {
  await plane.close();
  await nats.close();
}, 60_000);

const metricsOf = async (service: Running): Promise<string> =>
  (await service.waitFor(/"url":"(http:[^"]+)","msg":"metrics can be scraped"/))[1] ?? '';

/** A machine that checks in, a person who looks, and a stranger with something to hide in every place. */
const traffic = async (): Promise<void> => {
  expect(await plane.cli('login', await plane.link())).toMatchObject({ code: 0 });
  expect(await plane.agent('one', ['enrol'], await plane.enrolmentToken())).toMatchObject({ code: 0 });
  await plane.runAgent('one');
  await eventually(
    'the machine is present',
    async () => {
      const { stdout } = await plane.cli('machines', 'list', '--json');
      const [machine] = (JSON.parse(stdout) as MachineList).machines;
      machineId = machine?.id ?? '';
      return machine?.presence === 'present';
    },
    60_000,
  );
  expect(await plane.cli('machines', 'show', machineId)).toMatchObject({ code: 0 });
  expect(await plane.cli('machines', 'rename', machineId, `${CANARY}-name`)).toMatchObject({ code: 0 });
  const [, operatorApi = ''] = await plane.operatorApi.waitFor(/"url":"([^"]+)","msg":"the operator API answers"/);
  for (const path of ['/v1/check', `/v1/${CANARY}`, `/v1/machines/${CANARY}?${CANARY}`])
    for (const method of ['GET', 'POST', 'MKCALENDAR']) {
      await ask(plane.machineApi.url, method, path);
      await ask(operatorApi, method, path);
    }
};

const ask = (origin: string, method: string, path: string): Promise<void> =>
  new Promise((done) => {
    const headers = {
      authorization: `Bearer ${CANARY}${makeSecret('rcm')}`,
      'x-forwarded-for': CANARY,
      'user-agent': CANARY,
    };
    const asking = request(`${origin}${path}`, { method, headers, rejectUnauthorized: false }, (answer) => {
      answer.resume();
      answer.on('close', done);
    });
    asking.on('error', () => done());
    asking.end(method === 'POST' ? JSON.stringify({ name: CANARY }) : undefined);
  });

/** The metrics that a text asks for. */
const asked = (text: string): readonly string[] => [...new Set(text.match(/\b(?:rollcall|process|nodejs)_\w+/g))];

describe('the metrics of a plane', () => {
  it('are all that the alert rules and the dashboard ask for (U3)', async () => {
    const wanted = [await readFile(ALERTS, 'utf8'), await expressions()].flatMap(asked);
    expect(wanted.length).toBeGreaterThan(20);
    // Nothing is sent to a webhook here, and a histogram without observations has no samples.
    const isMissing = (name: string): boolean => !samples.has(name) && !name.startsWith('rollcall_webhook_attempt_');
    expect(wanted.filter(isMissing)).toEqual([]);
  });

  it('are each shown on the dashboard, and explained to operators (U3)', async () => {
    const shown = new Set(asked(await expressions()).map((name) => name.replace(/_(bucket|sum|count)$/, '')));
    const operating = await readFile(OPERATING, 'utf8');
    expect(families.length).toBeGreaterThan(20);
    expect(families.filter((name) => !shown.has(name))).toEqual([]);
    expect(families.filter((name) => !operating.includes(`\`${name}\``))).toEqual([]);
  });

  it('are named as Prometheus wants it, with alert rules that it takes and that fire when they say so', async () => {
    const run = promisify(execFile);
    await run('promtool', ['check', 'rules', ALERTS]);
    await run('promtool', ['test', 'rules', ALERT_TESTS]);
    for (const scrape of scrapes) {
      const linted = run('promtool', ['check', 'metrics']);
      linted.child.stdin?.end(`${scrape}\n`);
      expect(await linted).toMatchObject({ stdout: '' });
    }
  });

  it('hold no id, name or address of a machine, no credential, and nothing that a stranger wrote (O2, I10)', async () => {
    const told = [...(await words(plane.directory)), ...(await passwords())];
    expect(told.length).toBeGreaterThan(20);
    const never = [machineId, MACHINE_ADDRESS, '127.0.0.1', CANARY, 'Ada', plane.personId, ...told];
    for (const scrape of scrapes) expect(never.filter((word) => scrape.includes(word))).toEqual([]);
  });

  it('have few labels, with values from closed sets', () => {
    const labels = scrapes.flatMap((text) => [...text.matchAll(/[{,](\w+)="([^"]*)"/g)]);
    const closed =
      /^(le|mode|outcome|read_model|source|method|route|status|presence|lifecycle|can_take_work|code|change|part|reason)$/;
    expect(labels.map(([, name]) => name).filter((name) => !closed.test(name ?? ''))).toEqual([]);
    const routes = new Set(labels.flatMap(([, name, value]) => (name === 'route' ? [value] : [])));
    for (const route of routes) expect(route).toMatch(/^(none|(\/[a-z0-9:-]+)+)$/i);
    expect(routes).toContain('/v1/check');
    expect(routes).toContain('none');
  });
});

/** What the dashboard asks Prometheus. */
const expressions = async (): Promise<string> => {
  const found: string[] = [];
  JSON.parse(await readFile(DASHBOARD, 'utf8'), (key, value: unknown) => {
    if ((key === 'expr' || key === 'query') && typeof value === 'string') found.push(value);
    return value;
  });
  return found.join('\n');
};

/** Every long word in the files of the plane, the agent and the command line tool: keys, credentials, tokens, ids, names. */
const words = async (directory: string): Promise<readonly string[]> => {
  const entries = await readdir(directory, { recursive: true, withFileTypes: true });
  const texts = entries
    .filter((entry) => entry.isFile())
    .map((entry) => readFile(join(entry.parentPath, entry.name), 'latin1'));
  return (await Promise.all(texts)).flatMap((text) => text.match(/[\w+/=-]{16,}/g) ?? []);
};

const passwords = async (): Promise<readonly string[]> => [
  await nats.password('relay'),
  await nats.password('projector'),
];

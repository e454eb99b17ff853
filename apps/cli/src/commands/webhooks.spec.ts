import { describe, expect, it } from '@jest/globals';
import type { WebhookDeliveryView, WebhookList, WebhookView } from '@rollcall/wire';
import type { Context } from '../context.js';
import { EXIT, Failure } from '../failure.js';
import { Output } from '../output/output.js';
import { Plane } from '../plane/plane.js';
import type { Transport, TransportRequest } from '../plane/transport.js';
import { run } from '../run.js';
import { SessionFile } from '../session/session-file.js';
import { captured } from '../testing/captured.js';
import {
  addWebhook,
  listDeliveries,
  listWebhooks,
  removeWebhook,
  replayDeliveries,
  rollSecret,
  tellWebhook,
} from './webhooks.js';

const ID = '0192f0c4-0000-7000-8000-0000000000aa';
const AS_OF = '2026-11-29T14:02:10.000Z';
const webhook: WebhookView = {
  id: ID,
  host: 'hooks.example.org',
  events: ['machine.absent'],
  promisedOnly: false,
  createdAt: '2026-11-29T14:01:10.000Z',
  paused: null,
  failures: 0,
  failingSince: null,
  waiting: 0,
};
const list = (...webhooks: WebhookView[]): WebhookList => ({ asOf: AS_OF, behind: false, webhooks, problem: null });
const delivery: WebhookDeliveryView = {
  id: 'e1',
  type: 'machine.absent',
  machine: 'm1',
  sequence: 7,
  occurredAt: AS_OF,
  state: 'waiting',
  attempts: 2,
  lastAttemptAt: AS_OF,
  lastStatus: 503,
  lastOutcome: 'refused',
  nextAttemptAt: AS_OF,
  deliveredAt: null,
};

/** Runs a command against a plane that answers each path with a body, by its end; anything else with `{}`. */
const against = async (
  bodies: Record<string, unknown>,
  command: (context: Context) => Promise<void>,
  { json = false, terminal = false, stdin = '' } = {},
) => {
  const asked: TransportRequest[] = [];
  const transport: Transport = (request) => {
    asked.push(request);
    const found = Object.entries(bodies).find(([end]) => request.path.endsWith(end));
    return Promise.resolve({ status: 200, body: found?.[1] ?? {} });
  };
  const surroundings = captured({ terminal, stdin });
  const context: Context = {
    surroundings,
    output: new Output(surroundings.stdout, surroundings.stderr, { NO_COLOR: '1' }, json),
    sessions: new SessionFile('/nowhere'),
    plane: () => Promise.resolve(new Plane('https://plane', transport, 'rco_')),
    planeAt: () => new Plane('https://plane', transport, null),
  };
  const failure = await command(context).then(
    () => null,
    (error: unknown) => error as Failure,
  );
  return { ...surroundings.printed, asked, failure };
};

describe('webhooks add', () => {
  const answer = { webhook: { ...webhook }, secret: 'whsec_x' };
  const add = (context: Context) => addWebhook('https://hooks.example.org/x', { events: ['machine.absent'] }, context);

  it('prints the secret alone on standard output, and which webhook it is beside it (U5)', async () => {
    const { out, err, asked } = await against({ '/v1/webhooks': answer }, add);
    expect(out).toBe('whsec_x\n');
    expect(err).toContain(ID);
    expect(asked[0]).toMatchObject({
      method: 'POST',
      path: '/v1/webhooks',
      body: { url: 'https://hooks.example.org/x', events: ['machine.absent'], promisedOnly: false },
    });
  });

  it('prints the whole answer with --json', async () => {
    const { out } = await against({ '/v1/webhooks': answer }, add, { json: true });
    expect(JSON.parse(out)).toEqual(answer);
  });
});

describe('webhooks list', () => {
  it('says of each how it gets on with its receiver (U6)', async () => {
    const since = AS_OF;
    const { out, err } = await against(
      {
        '/v1/webhooks': {
          ...list(
            webhook,
            { ...webhook, id: `1${ID.slice(1)}`, failures: 2, failingSince: AS_OF, promisedOnly: true },
            { ...webhook, id: `2${ID.slice(1)}`, paused: { reason: 'failing', since }, failures: 5, waiting: 9 },
            { ...webhook, id: `3${ID.slice(1)}`, paused: { reason: 'gone', since } },
            { ...webhook, id: `4${ID.slice(1)}`, paused: { reason: 'person', since } },
          ),
          problem: 'Webhooks wait: there is no key.',
        },
      },
      listWebhooks,
    );
    const rows = out.trimEnd().split('\n');
    expect(rows[1]).toMatch(/^0192f0c4 {2}hooks\.example\.org {2}sent to .* 0 {8}machine\.absent .* 1 min ago$/);
    expect(rows[2]).toMatch(/failing since 2026-11-29 14:02:10Z .* only against a promise/);
    expect(rows[3]).toMatch(/failed 5 times in a row; it is tried now and then .* 9 /);
    expect(rows[4]).toContain('it is gone');
    expect(rows[5]).toContain('paused by a person');
    expect(err).toBe('Webhooks wait: there is no key.\n');
  });

  it('says how to begin where nobody is told', async () =>
    expect((await against({ '/v1/webhooks': list() }, listWebhooks)).out).toContain('webhooks add'));
});

describe('a webhook', () => {
  const told = { webhook: { id: ID, paused: false, removed: false } };

  it('that is paused does not promise the notice of a test, but says how to have it sent (U6)', async () => {
    const test = (paused: boolean, reason: 'failing' | 'gone' | null) => {
      const there = { ...webhook, paused: reason === null ? null : { reason, since: AS_OF } };
      const answer = { webhook: { ...told.webhook, paused } };
      return against({ '/v1/webhooks': list(there), '/test': answer }, (context) => tellWebhook('test')(ID, context));
    };
    for (const [paused, reason] of [
      [true, null],
      [false, 'failing'],
      [false, 'gone'],
    ] as const)
      expect((await test(paused, reason)).out).toMatch(
        new RegExp(`is paused.* waits; .rollcall webhooks resume ${ID}`),
      );
    expect((await test(false, null)).out).toMatch(/gets a notice of the type webhook\.test/);
  });

  it('is named by its id or the beginning of it, and must be one (U6)', async () => {
    const twin = { ...webhook, id: `${ID.slice(0, -1)}b` };
    const test = (name: string, ...there: WebhookView[]) =>
      against({ '/v1/webhooks': list(...there), '/test': told }, (context) => tellWebhook('test')(name, context));
    expect((await test(ID)).asked[0]).toMatchObject({ method: 'POST', path: `/v1/webhooks/${ID}/test` });
    const short = await test('0192', webhook);
    expect(short.asked[1]).toMatchObject({ method: 'POST', path: `/v1/webhooks/${ID}/test` });
    expect(short.out).toContain('webhook.test');
    expect((await test('ffff', webhook)).failure).toMatchObject({ exitCode: EXIT.notFound });
    expect((await test('0192', webhook, twin)).failure?.message).toContain(`${ID}, ${twin.id}`);
  });

  it('gets another secret, alone on standard output', async () => {
    const { out, asked } = await against({ '/secret': { secret: 'whsec_y' } }, (context) => rollSecret(ID, context));
    expect([out, asked[0]?.method]).toEqual(['whsec_y\n', 'POST']);
  });

  it('is removed when somebody says yes', async () => {
    const remove = (options: { yes?: boolean }, terminal: boolean, stdin = '') =>
      against({}, (context) => removeWebhook(ID, options, context), { terminal, stdin });
    expect((await remove({}, false)).failure).toMatchObject({
      exitCode: EXIT.usage,
      message: expect.stringContaining('--yes'),
    });
    expect((await remove({}, true, 'no\n')).asked).toEqual([]);
    expect((await remove({ yes: true }, false)).asked).toMatchObject([
      { method: 'DELETE', path: `/v1/webhooks/${ID}` },
    ]);
    expect((await remove({}, true, 'yes\n')).asked).toMatchObject([{ method: 'DELETE' }]);
  });
});

describe('webhooks deliveries', () => {
  it('shows what became of each, page after page up to the limit (U6)', async () => {
    const page = { deliveries: [delivery], next: '1.e1' };
    const last = {
      deliveries: [{ ...delivery, id: 'e2', lastStatus: null, lastOutcome: null, nextAttemptAt: null }],
      next: null,
    };
    const bodies = { 'after=1.e1': last, deliveries: page, 'limit=5&state=waiting&type=machine.absent': page };
    const { out, err, asked } = await against(bodies, (context) =>
      listDeliveries(ID, { state: 'waiting', type: 'machine.absent', limit: 5 }, context),
    );
    expect(asked.map(({ path }) => path.split('?')[1])).toEqual([
      'limit=5&state=waiting&type=machine.absent',
      'limit=4&state=waiting&type=machine.absent&after=1.e1',
    ]);
    expect(out).toMatch(/e1 .*machine\.absent {2}m1 .*2026-11-29 14:02:10Z {2}waiting {2}2 .*503 refused/);
    expect([out.split('\n').length, err]).toEqual([4, '']);
    const one = await against({ 'limit=1': page }, (context) => listDeliveries(ID, { limit: 1 }, context));
    expect(one.err).toContain('--limit');
  });
});

describe('webhooks replay', () => {
  const replay = (wish: Parameters<typeof replayDeliveries>[1]) =>
    against({}, (context) => replayDeliveries(ID, wish, context));

  it('asks for one delivery or for those of a time', async () => {
    expect((await replay({ event: 'e1' })).asked[0]?.body).toMatchObject({ eventId: 'e1' });
    expect((await replay({ from: 'a', to: 'b', types: ['machine.absent'] })).asked[0]?.body).toMatchObject({
      from: 'a',
      to: 'b',
      types: ['machine.absent'],
    });
  });

  it.each([
    ['nothing', {}, '--event ID, or both --from TIME and --to TIME'],
    ['a time without an end', { from: 'a' }, '--to'],
    ['both', { event: 'e1', from: 'a' }, '--event goes without --from'],
  ])('refuses %s, and names the flags', async (_, wish, words) => {
    const { failure, asked } = await replay(wish);
    expect([failure?.exitCode, asked]).toEqual([EXIT.usage, []]);
    expect(failure?.message).toContain(words);
  });
});

it.each([
  ['no events', ['add', 'https://x.org/'], '--events'],
  [
    'an event that there is not',
    ['add', 'https://x.org/', '--events', 'machine.sang'],
    'machine.absent, machine.stopped',
  ],
  ['no address', ['add', '', '--events', 'machine.absent'], 'It is empty.'],
  ['a name that is no id', ['test', 'box'], 'first 4 or more characters'],
  ['a state that there is not', ['deliveries', ID, '--state', 'lost'], 'waiting, delivered, failed'],
  ['a time that is none', ['replay', ID, '--from', 'yesterday'], '--from'],
  ['an event that is no id', ['replay', ID, '--event', 'last'], '--event'],
])('%s is wrong usage, and no plane is asked (U6)', async (_, argv, words) => {
  const surroundings = captured({ env: { ROLLCALL_CONFIG_DIR: '/nobody/is/signed/in' } });
  expect(await run(['webhooks', ...argv], surroundings)).toBe(EXIT.usage);
  expect(surroundings.printed).toEqual({ out: '', err: expect.stringContaining(words) });
});

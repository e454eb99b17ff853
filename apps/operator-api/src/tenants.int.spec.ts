import { randomBytes, randomUUID } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { request as httpsRequest } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { ACTIONS, kindsFor, SCOPES, type Action } from '@rollcall/authorisation';
import { machine, machineStream } from '@rollcall/machine';
import { person, personStream, type LinkAccount } from '@rollcall/person';
import { PinnedClient } from '@rollcall/pinned-https';
import { decodeSignInLink, hashOf, makeSecret, type SessionList, type SignInAnswer } from '@rollcall/wire';
import { startOperatorPlane, type JoinedMachine, type OperatorPlane } from '../../../test/support/operator-plane.js';
import { routes } from './openapi.js';

jest.setTimeout(60_000);

/** Somebody with a machine and all that one can have, and every word by which another would recognise it. */
type Tenant = {
  readonly personId: string;
  readonly session: string;
  readonly automation: string;
  readonly joined: JoinedMachine;
  readonly webhook: string;
  readonly token: string;
  readonly workspace: string;
  readonly invitation: string;
  readonly account: string;
  readonly sessionId: string;
  readonly words: readonly string[];
};

let directory: string;
let plane: OperatorPlane;
let client: PinnedClient;
let ada: Tenant;
let bob: Tenant;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'rollcall-tenants-'));
  const keyFile = join(directory, 'webhook.key');
  await writeFile(keyFile, randomBytes(32).toString('base64url'), { mode: 0o600 });
  plane = await startOperatorPlane(undefined, {
    ROLLCALL_WEBHOOK_KEY_FILE: keyFile,
    ROLLCALL_WEBHOOK_ALLOW: '127.0.0.1:9,127.0.0.2:9',
  });
  client = new PinnedClient({ origin: plane.api.url, pins: plane.api.pins });
  ada = await tenant('ada', plane.personId, '127.0.0.1:9');
  bob = await tenant('bob', await plane.anotherPerson('Bob of the other house'), '127.0.0.2:9');
  await plane.caughtUp();
});
afterAll(() => Promise.all([plane.close(), rm(directory, { recursive: true })]));

type Request = { readonly method: string; readonly path: string; readonly body?: unknown };

const ask = async ({ method, path, body }: Request, bearer: string | null) => {
  const answer = await client.request({
    method: method as 'GET',
    path,
    headers: {
      ...(bearer === null ? {} : { authorization: `Bearer ${bearer}` }),
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  return { status: answer.status, text: answer.body };
};

const tenant = async (name: string, personId: string, receiver: string): Promise<Tenant> => {
  const { secret } = decodeSignInLink(await plane.link(personId));
  const signedIn = await ask({ method: 'POST', path: '/v1/sessions', body: { link: secret } }, null);
  const { session } = JSON.parse(signedIn.text) as SignInAnswer;
  const own = await ask({ method: 'GET', path: '/v1/sessions' }, session);
  const sessionId = (JSON.parse(own.text) as SessionList).sessions.find(({ current }) => current)?.id ?? '';
  const joined = await plane.join({ name: `${name}-box`, owner: personId });
  await joined.check({ blockers: [`${name}-trouble`] });
  const [webhook, token, workspace, invitation] = [randomUUID(), randomUUID(), randomUUID(), randomUUID()];
  const automation = makeSecret('rca');
  const label = `${name}-house`;
  for (const [method, path, body] of [
    ['PATCH', `/v1/machines/${joined.id}/labels`, { set: { site: label } }],
    ['POST', `/v1/machines/${joined.id}/pause`, { note: `${name} asks for silence` }],
    ['PUT', '/v1/promises', { label: `site=${label}`, schedule: 'always' }],
    ['POST', '/v1/workspaces', { commandId: workspace, name: `${name}-rooms` }],
    ['PUT', `/v1/workspaces/${workspace}/bindings`, { machine: joined.id, directory: `/srv/${name}-data` }],
    ['POST', '/v1/webhooks', { commandId: webhook, url: `http://${receiver}/`, events: ['machine.absent'] }],
    [
      'POST',
      '/v1/enrolment-tokens',
      { commandId: invitation, tokenHash: hashOf(makeSecret('rce')), name: `${name}-guest`, expiresIn: 3_600 },
    ],
    [
      'POST',
      '/v1/automation-tokens',
      { commandId: token, tokenHash: hashOf(automation), name: `${name}-bot`, scopes: SCOPES, expiresIn: 3_600 },
    ],
  ] as const) {
    const { status, text } = await ask({ method, path, body: { commandId: randomUUID(), ...body } }, session);
    expect([path, status < 300, text]).toEqual([path, true, text]);
  }
  const account = randomUUID();
  const link = { type: 'LinkAccount', accountId: account, accountHash: hashOf(account), provider: `${name}.example` };
  const actor = { kind: 'person', id: personId } as const;
  await plane.store.decide(person, { stream: personStream(personId) }, link as LinkAccount, { actor });
  const { enrolment } = (await plane.store.view(machine, { stream: machineStream(joined.id) }))!.state;
  const words = [
    personId,
    joined.id,
    enrolment!.nodeId,
    webhook,
    token,
    workspace,
    invitation,
    account,
    sessionId,
    `${name}.example`,
    receiver.split(':')[0]!,
    name,
  ].flatMap((word) =>
    word === name
      ? [
          `${name}-box`,
          `${name}-trouble`,
          label,
          `${name} asks`,
          `${name}-bot`,
          `${name}-rooms`,
          `${name}-data`,
          `${name}-guest`,
        ]
      : [word],
  );
  return { personId, session, automation, joined, webhook, token, workspace, invitation, account, sessionId, words };
};

/** What is asked on each route, about somebody's things where its path names any: a new route without a line here fails the test. */
const CASES: Readonly<Partial<Record<Action, (of: Tenant) => { readonly path: string; readonly body?: object }>>> = {
  'show-me': () => ({ path: '/v1/me' }),
  'sign-out': () => ({ path: '/v1/sessions/current' }),
  'issue-token': ({ joined }) => ({
    path: '/v1/enrolment-tokens',
    body: { tokenHash: hashOf(makeSecret('rce')), node: joined.id },
  }),
  'preadmit-machine': ({ joined }) => ({
    path: '/v1/preadmissions',
    body: { credentialHash: hashOf(makeSecret('rcm')), node: joined.id },
  }),
  'list-tokens': () => ({ path: '/v1/enrolment-tokens' }),
  'withdraw-token': ({ invitation }) => ({ path: `/v1/enrolment-tokens/${invitation}`, body: {} }),
  // A code is nobody's before it is approved; one that somebody has approved is refused like one that never existed.
  'look-up-code': () => ({ path: '/v1/codes/look-up', body: { code: 'ZZZZ-ZZZZ' } }),
  'approve-code': () => ({ path: '/v1/codes/approve', body: { code: 'ZZZZ-ZZZZ' } }),
  'refuse-code': () => ({ path: '/v1/codes/refuse', body: { code: 'ZZZZ-ZZZZ' } }),
  // Answered before anybody looks whose session it is: there is no identity provider here.
  'link-account': () => ({ path: '/v1/accounts/link', body: {} }),
  'list-sessions': () => ({ path: '/v1/sessions' }),
  'end-session': ({ sessionId }) => ({ path: `/v1/sessions/${sessionId}` }),
  'list-accounts': () => ({ path: '/v1/accounts' }),
  'unlink-account': ({ account }) => ({ path: `/v1/accounts/${account}` }),
  'look-up-login': () => ({ path: '/v1/logins/look-up', body: { code: 'ZZZZ-ZZZZ' } }),
  'approve-login': () => ({ path: '/v1/logins/approve', body: { code: 'ZZZZ-ZZZZ' } }),
  'refuse-login': () => ({ path: '/v1/logins/refuse', body: { code: 'ZZZZ-ZZZZ' } }),
  'list-machines': () => ({ path: '/v1/machines?includeDeleted=true' }),
  'show-machine': ({ joined: { id } }) => ({ path: `/v1/machines/${id}` }),
  'rename-machine': ({ joined: { id } }) => ({ path: `/v1/machines/${id}`, body: { name: 'mine-now' } }),
  'delete-machine': ({ joined: { id } }) => ({ path: `/v1/machines/${id}`, body: {} }),
  'pause-machine': ({ joined: { id } }) => ({ path: `/v1/machines/${id}/pause`, body: { note: 'no' } }),
  'resume-machine': ({ joined: { id } }) => ({ path: `/v1/machines/${id}/pause`, body: {} }),
  'label-machine': ({ joined: { id } }) => ({ path: `/v1/machines/${id}/labels`, body: { set: { a: 'b' } } }),
  'request-log-tail': ({ joined: { id } }) => ({ path: `/v1/machines/${id}/log-tail-requests`, body: {} }),
  'request-rotation': ({ joined: { id } }) => ({ path: `/v1/machines/${id}/rotation-requests`, body: {} }),
  'show-log-tail': ({ joined: { id } }) => ({ path: `/v1/machines/${id}/log-tail` }),
  'show-history': ({ joined: { id } }) => ({ path: `/v1/machines/${id}/history` }),
  'explain-machine': ({ joined: { id } }) => ({ path: `/v1/machines/${id}/why` }),
  'show-readiness': ({ joined: { id } }) => ({ path: `/v1/machines/${id}/readiness` }),
  'list-blockers': () => ({ path: '/v1/blockers?all=true' }),
  'count-machines': () => ({ path: '/v1/presence?limit=10' }),
  'list-promises': () => ({ path: '/v1/promises' }),
  'make-promise': ({ joined: { id } }) => ({ path: '/v1/promises', body: { machine: id, schedule: 'always' } }),
  'withdraw-promise': ({ joined: { id } }) => ({ path: '/v1/promises', body: { machine: id } }),
  'list-read-models': () => ({ path: '/v1/read-models' }),
  'rebuild-read-model': () => ({ path: '/v1/read-models/nobody/rebuild' }),
  'list-webhooks': () => ({ path: '/v1/webhooks' }),
  'add-webhook': ({ webhook }) => ({
    path: '/v1/webhooks',
    body: { commandId: webhook, url: 'http://127.0.0.3:9/', events: ['machine.absent'] },
  }),
  'remove-webhook': ({ webhook }) => ({ path: `/v1/webhooks/${webhook}`, body: {} }),
  'test-webhook': ({ webhook }) => ({ path: `/v1/webhooks/${webhook}/test`, body: {} }),
  'pause-webhook': ({ webhook }) => ({ path: `/v1/webhooks/${webhook}/pause`, body: {} }),
  'resume-webhook': ({ webhook }) => ({ path: `/v1/webhooks/${webhook}/resume`, body: {} }),
  'roll-webhook-secret': ({ webhook }) => ({ path: `/v1/webhooks/${webhook}/secret`, body: {} }),
  'list-deliveries': ({ webhook }) => ({ path: `/v1/webhooks/${webhook}/deliveries` }),
  'replay-deliveries': ({ webhook }) => ({
    path: `/v1/webhooks/${webhook}/replay`,
    body: { from: '2026-01-01T00:00:00Z', to: '2026-01-02T00:00:00Z' },
  }),
  'issue-automation-token': ({ token }) => ({
    path: '/v1/automation-tokens',
    body: { commandId: token, tokenHash: hashOf(makeSecret('rca')), name: 'x', scopes: SCOPES, expiresIn: 60 },
  }),
  'list-automation-tokens': () => ({ path: '/v1/automation-tokens' }),
  'create-workspace': ({ workspace }) => ({ path: '/v1/workspaces', body: { commandId: workspace, name: 'mine' } }),
  'list-workspaces': () => ({ path: '/v1/workspaces' }),
  'show-workspace': ({ workspace }) => ({ path: `/v1/workspaces/${workspace}` }),
  'add-member': ({ workspace, personId }) => ({
    path: `/v1/workspaces/${workspace}/members`,
    body: { person: personId },
  }),
  'remove-member': ({ workspace, personId }) => ({
    path: `/v1/workspaces/${workspace}/members`,
    body: { person: personId },
  }),
  'leave-workspace': ({ workspace }) => ({ path: `/v1/workspaces/${workspace}/membership`, body: {} }),
  'bind-directory': ({ workspace, joined: { id } }) => ({
    path: `/v1/workspaces/${workspace}/bindings`,
    body: { machine: id, directory: '/srv' },
  }),
  'unbind-directory': ({ workspace, joined: { id } }) => ({
    path: `/v1/workspaces/${workspace}/bindings`,
    body: { machine: id, directory: '/srv' },
  }),
  'add-person': () => ({ path: '/v1/people', body: { name: 'Eve', linkHash: hashOf(makeSecret('rcl')) } }),
  'list-people': () => ({ path: '/v1/people' }),
  'issue-sign-in-link': ({ personId }) => ({
    path: `/v1/people/${personId}/sign-in-links`,
    body: { linkHash: hashOf(makeSecret('rcl')) },
  }),
  'remove-person': ({ personId }) => ({ path: `/v1/people/${personId}`, body: {} }),
  'revoke-automation-token': ({ token }) => ({ path: `/v1/automation-tokens/${token}`, body: {} }),
};
/** Asked below, or last: it ends the session that the others are asked with. */
const APART: ReadonlySet<Action> = new Set(['follow-presence', 'sign-out']);
/** Which of them name a thing of somebody, so that it must not be there for another. */
const isAbout = (path: string, words: readonly string[], body?: object): boolean =>
  words.some((word) => path.includes(word) || JSON.stringify(body ?? {}).includes(word));

describe('two who share a plane (O29)', () => {
  const known = async () =>
    (await routes()).flatMap(({ method, action }) =>
      action && !kindsFor(action).includes('nobody') ? [{ method, action }] : [],
    );

  it('are asked about on every route there is', async () => {
    const missing = (await known()).filter(({ action }) => !CASES[action] && !APART.has(action));
    expect(missing).toEqual([]);
  });

  it.each([
    ['a person', (of: Tenant) => of.session, () => true],
    ['their automation', (of: Tenant) => of.automation, (action: Action) => ACTIONS[action].automation !== undefined],
  ] as const)(
    'see nothing of each other as %s: what is not theirs is not found, and no answer names it (I18)',
    async (_, credentialOf, may) => {
      for (const [own, other] of [
        [ada, bob],
        [bob, ada],
      ] as const)
        for (const { method, action } of await known()) {
          const wanted = CASES[action]?.(other);
          if (!wanted || APART.has(action) || !may(action)) continue;
          const { path, body } = wanted;
          const request = { method, path, ...(body ? { body: { commandId: randomUUID(), ...body } } : {}) };
          const { status, text } = await ask(request, credentialOf(own));
          // Whoever adds under an id that another has used is told no more than that it is not theirs to use.
          const taken =
            action === 'add-webhook' || action === 'create-workspace' || action === 'issue-automation-token'
              ? 422
              : 404;
          expect([action, status]).toEqual([action, isAbout(path, other.words, body) ? taken : expect.any(Number)]);
          for (const word of other.words) expect([action, text.includes(word), word]).toEqual([action, false, word]);
        }
    },
  );

  it('follow their own machines only (I18)', async () => {
    const text = await new Promise<string>((resolve, reject) => {
      const { hostname, port } = new URL(plane.api.url);
      const options = { hostname, port, path: '/v1/presence/stream', rejectUnauthorized: false };
      const following = httpsRequest({ ...options, headers: { authorization: `Bearer ${ada.session}` } }, (answer) => {
        let seen = '';
        answer.setEncoding('utf8').on('data', (piece: string) => {
          seen += piece;
          const isFirst = seen.includes('snapshot') && !seen.includes('event: change');
          // What happens to another's machine is recorded first, so it would have been told by the time that one's own is.
          if (isFirst) void bob.joined.check({ blockers: [] }).then(() => ada.joined.check({ blockers: [] }));
          if (!seen.includes('event: change')) return;
          following.destroy();
          resolve(seen);
        });
      });
      following.on('error', reject).end();
    });
    expect(text).toContain(ada.joined.id);
    for (const word of bob.words) expect([word, text.includes(word)]).toEqual([word, false]);
  });
});

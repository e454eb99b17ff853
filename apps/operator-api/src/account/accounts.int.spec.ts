import { afterAll, beforeAll, expect, it, jest } from '@jest/globals';
import { PinnedClient } from '@rollcall/pinned-https';
import { person, personStream } from '@rollcall/person';
import {
  decodeSignInLink,
  hashOf,
  makeSecret,
  type AccountList,
  type MeAnswer,
  type ProviderRedirect,
  type SessionList,
} from '@rollcall/wire';
import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { testProvider, type TestProvider } from '../../../../test/support/identity-provider.js';
import { startOperatorPlane, type OperatorPlane } from '../../../../test/support/operator-plane.js';
import { Processes, type Running } from '../../../../test/support/processes.js';

jest.setTimeout(60_000);

const processes = new Processes();
let directory: string;
let provider: TestProvider;
let plane: OperatorPlane;
let client: PinnedClient;
let running: Running;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'rollcall-accounts-'));
  provider = await testProvider(processes, directory);
  plane = await startOperatorPlane(undefined, provider.settings);
  client = new PinnedClient({ origin: plane.api.url, pins: plane.api.pins });
});
afterAll(async () => {
  client.abandonConnections();
  await Promise.all([plane.close(), processes.close(), rm(directory, { recursive: true })]);
});

type Told<Body> = {
  readonly status: number;
  readonly body: Body & { readonly code?: string };
  readonly location: string | undefined;
};

/** A browser with its cookies, at the page of the plane. */
class Browser {
  readonly cookies = new Map<string, string>();

  async ask<Body>(method: 'GET' | 'POST' | 'DELETE', path: string, body?: object): Promise<Told<Body>> {
    const answer = await client.request({
      method,
      path,
      headers: {
        cookie: [...this.cookies].map(([name, value]) => `${name}=${value}`).join('; '),
        origin: plane.api.url,
        'x-rollcall-proof': this.cookies.get('__Host-rollcall-proof') ?? '',
        ...(body ? { 'content-type': 'application/json' } : {}),
      },
      ...(body ? { body: JSON.stringify(body) } : {}),
      signal: AbortSignal.timeout(20_000),
    });
    for (const cookie of answer.header('set-cookie')) {
      const [pair = ''] = cookie.split(';');
      const at = pair.indexOf('=');
      const [name, value] = [pair.slice(0, at), pair.slice(at + 1)];
      if (value === '') this.cookies.delete(name);
      else this.cookies.set(name, value);
    }
    const read = (answer.body === '' ? undefined : JSON.parse(answer.body)) as Body & { readonly code?: string };
    return { status: answer.status, body: read, location: answer.header('location')[0] };
  }

  async signInByLink(person?: string): Promise<this> {
    const { secret } = decodeSignInLink(await plane.link(person));
    expect((await this.ask('POST', '/v1/sessions/browser', { link: secret })).status).toBe(201);
    return this;
  }

  /** Leaves for the provider. */
  async leave(way: '/v1/provider/sign-in' | '/v1/accounts/link', returnTo = '/device'): Promise<string> {
    return (await this.ask<ProviderRedirect>('POST', way, { returnTo })).body.location;
  }

  /** Where one ends up who comes back. */
  async comeBack(to: URL): Promise<string | undefined> {
    const { status, location } = await this.ask('GET', to.pathname + to.search);
    expect(status).toBe(303);
    return location;
  }

  async throughProvider(login: string, way: '/v1/provider/sign-in' | '/v1/accounts/link' = '/v1/provider/sign-in') {
    return this.comeBack(await provider.signIn(await this.leave(way), login));
  }

  /** Says something else in the cookie of a sign-in that is under way. */
  rewriteFlow(change: object): void {
    const name = '__Host-rollcall-provider';
    const flow = JSON.parse(Buffer.from(this.cookies.get(name) ?? '', 'base64url').toString()) as object;
    this.cookies.set(name, Buffer.from(JSON.stringify({ ...flow, ...change })).toString('base64url'));
  }

  async me(): Promise<string | null> {
    const { status, body } = await this.ask<MeAnswer>('GET', '/v1/me');
    return status === 200 ? body.person.name : null;
  }
}

const events = async (type: string) =>
  (await plane.store.readStream(`person-${plane.personId}`)).flatMap((fact) =>
    fact.kind === 'event' && fact.event.type === type ? [fact] : [],
  );

// First, while the provider is not there yet.
it('starts while the provider is away and says so at a sign-in; links work meanwhile, and later the provider does', async () => {
  const browser = new Browser();
  expect((await browser.ask('GET', '/v1/provider')).body).toEqual({ provider: { name: 'the house' } });
  const away = await browser.ask('POST', '/v1/provider/sign-in', {});
  expect([away.status, away.body.code]).toEqual([503, 'provider-away']);
  expect(await (await browser.signInByLink()).me()).toBe('Ada');
  running = await provider.start([`${plane.api.url}/v1/provider/callback`]);
  expect(new URL(await browser.leave('/v1/provider/sign-in')).searchParams.get('code_challenge_method')).toBe('S256');
});

it('refuses whoever nobody invited, whatever the provider says that they are', async () => {
  const stranger = new Browser();
  expect(await stranger.throughProvider('mallory')).toBe('/sign-in?problem=account-refused');
  expect(await stranger.me()).toBeNull();
});

it('signs in with an account that a person linked in a session of theirs, and goes on where they came from', async () => {
  const invited = await new Browser().signInByLink();
  expect(await invited.throughProvider('ada', '/v1/accounts/link')).toBe('/device');
  const { accounts } = (await invited.ask<AccountList>('GET', '/v1/accounts')).body;
  expect(accounts).toEqual([
    {
      id: expect.any(String),
      provider: new URL(provider.settings['ROLLCALL_OIDC_ISSUER'] ?? '').host,
      linkedAt: expect.any(String),
    },
  ]);
  const browser = new Browser();
  expect(await browser.throughProvider('ada')).toBe('/device');
  expect(await browser.me()).toBe('Ada');
  const [linked] = await events('AccountLinked');
  expect(linked?.actor).toEqual({ kind: 'person', id: plane.personId });
  const [started] = (await events('SessionStarted')).slice(-1);
  expect(started?.event).toMatchObject({ account: accounts[0]?.id, authenticatedAt: expect.any(String) });
  // Whoever signs in once more in the same browser leaves no session behind there, in whichever way that is.
  await (await browser.signInByLink()).throughProvider('ada');
  const begun = (await events('SessionStarted')).slice(-3, -1).map(({ event }) => event['sessionId']);
  expect((await events('SessionEnded')).slice(-2).map(({ event }) => event['sessionId'])).toEqual(begun);
  expect((await browser.ask<SessionList>('GET', '/v1/sessions')).body.sessions).toContainEqual(
    expect.objectContaining({ current: true, by: 'account' }),
  );
  // Neither who they are at the provider nor any secret of it is recorded.
  for (const { body } of await events('AccountLinked')) expect(body).not.toMatch(/"ada"|a-secret-of-the-tests/);
});

it('keeps two accounts apart, and leaves one with the person who has it', async () => {
  const bob = await plane.anotherPerson('Bob');
  const browser = await new Browser().signInByLink(bob);
  expect(await browser.throughProvider('ada', '/v1/accounts/link')).toBe('/account?problem=account-taken');
  expect(await browser.throughProvider('bob', '/v1/accounts/link')).toBe('/device');
  const [ada, other] = [new Browser(), new Browser()];
  await Promise.all([ada.throughProvider('ada'), other.throughProvider('bob')]);
  expect([await ada.me(), await other.me()]).toEqual(['Ada', 'Bob']);
});

it('links nothing unless the session that asked for it comes back', async () => {
  const browser = await new Browser().signInByLink();
  const returned = await provider.signIn(await browser.leave('/v1/accounts/link'), 'eve');
  await browser.ask('DELETE', '/v1/sessions/current');
  await browser.signInByLink();
  expect(await browser.comeBack(returned)).toBe('/account?problem=not-signed-in');
  expect(await new Browser().throughProvider('eve')).toBe('/sign-in?problem=account-refused');
  const unproven = await new Browser().ask('POST', '/v1/accounts/link', {});
  expect(unproven.status).toBe(401);
});

it('links nothing to a session that is not fresh, whatever the cookie says that was asked for (O3)', async () => {
  const [secret, sessionId] = [makeSecret('rco'), randomUUID()];
  const proof = { login: randomUUID(), authenticatedAt: '2026-01-01T12:00:00.000Z' };
  await plane.store.decide(
    person,
    { stream: personStream(plane.personId) },
    { type: 'StartSession', proof, sessionId, sessionHash: hashOf(secret), expiresIn: 600 },
    { actor: { kind: 'person', id: plane.personId } },
  );
  const browser = new Browser();
  const returned = await provider.signIn(await browser.leave('/v1/provider/sign-in'), 'eve');
  browser.rewriteFlow({ linksTo: sessionId });
  browser.cookies.set('__Host-rollcall-session', secret);
  expect(await browser.me()).toBe('Ada');
  expect(await browser.comeBack(returned)).toBe('/account?problem=session-not-fresh');
  expect(await new Browser().throughProvider('eve')).toBe('/sign-in?problem=account-refused');
});

it('refuses an answer that is not to this browser’s question, one that comes twice, and a code that the provider does not know', async () => {
  const refused = '/sign-in?problem=provider-refused';
  const returned = async (browser: Browser) => provider.signIn(await browser.leave('/v1/provider/sign-in'), 'ada');
  const changed = async (change: (browser: Browser, to: URL) => void) => {
    const browser = new Browser();
    const to = await returned(browser);
    change(browser, to);
    const end = await browser.comeBack(to);
    expect(await browser.me()).toBeNull();
    return end;
  };
  const rewrite = (field: string) => (browser: Browser) => browser.rewriteFlow({ [field]: 'x'.repeat(43) });
  expect(await changed((_, to) => to.searchParams.set('state', 'another'))).toBe(refused);
  for (const field of ['state', 'nonce', 'verifier'])
    expect([field, await changed(rewrite(field))]).toEqual([field, refused]);
  expect(await changed((browser) => browser.cookies.clear())).toBe(refused);
  expect(await changed((_, to) => to.searchParams.set('code', 'never-issued'))).toBe(refused);
  expect(await changed((_, to) => to.searchParams.set('iss', 'https://evil.example'))).toBe(refused);
  expect(
    await changed((_, to) => {
      to.searchParams.delete('code');
      to.searchParams.set('error', 'access_denied');
    }),
  ).toBe(refused);

  const browser = new Browser();
  const to = await returned(browser);
  const before = new Map(browser.cookies);
  expect(await browser.comeBack(to)).toBe('/device');
  const again = new Browser();
  for (const [name, value] of before) again.cookies.set(name, value);
  expect(await again.comeBack(to)).toBe(refused);
});

it('ends a link at the word of the person: the account is unknown from then on', async () => {
  const browser = await new Browser().signInByLink();
  const [account] = (await browser.ask<AccountList>('GET', '/v1/accounts')).body.accounts;
  expect((await browser.ask('DELETE', `/v1/accounts/${account?.id}`)).status).toBe(204);
  expect((await browser.ask('DELETE', `/v1/accounts/${account?.id}`)).body.code).toBe('account-not-found');
  expect(await new Browser().throughProvider('ada')).toBe('/sign-in?problem=account-refused');
});

// Last: it is not there afterwards.
it('says that the provider is away where it goes while somebody signs in', async () => {
  const browser = new Browser();
  const to = await provider.signIn(await browser.leave('/v1/provider/sign-in'), 'bob');
  await running.stop();
  expect(await browser.comeBack(to)).toBe('/sign-in?problem=provider-away');
  expect(await browser.me()).toBeNull();
  expect(await (await browser.signInByLink()).me()).toBe('Ada');
});

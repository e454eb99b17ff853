import { randomUUID } from 'node:crypto';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { credentialKey, machine, machineStream } from '@rollcall/machine';
import { admit, check } from '@rollcall/machine/testing';
import { chromium, type Browser, type BrowserContext, type Page } from 'playwright-core';
import { testProvider } from '../support/identity-provider.js';
import { Person } from '../support/person.js';
import { startPlane, type ProcessPlane } from '../support/plane.js';
import { eventually, Processes } from '../support/processes.js';
import { requireSystemTool } from '../support/system-tool.js';

jest.setTimeout(120_000);

/** Where a run leaves what it saw, for people. */
const PICTURES = resolve(import.meta.dirname, '../../.test-results/pages');
/** As many as a list has to be quick with (U3). */
const MACHINES = 10_000;
const AT_ONCE = 1_000;
/** Written by a machine, and never to be believed by a browser. */
const HOSTILE = '<img src=x onerror="document.title=1"> & "quoted"';

describe('the web page, in Chromium', () => {
  const processes = new Processes();
  let home: string;
  let plane: ProcessPlane;
  let origin: string;
  let browser: Browser;
  let context: BrowserContext;
  let page: Page;
  /** What the browser refused or threw. */
  const complaints: string[] = [];

  beforeAll(async () => {
    await requireSystemTool('chromium');
    await mkdir(PICTURES, { recursive: true });
    home = await mkdtemp(join(tmpdir(), 'rollcall-page-'));
    const provider = await testProvider(processes, home);
    plane = await startPlane({ interval: 30, windowFloor: 90, gap: 15, mark: 1 }, { settings: provider.settings });
    [, origin = ''] = await plane.operatorApi.waitFor(/"url":"([^"]+)","msg":"the operator API answers"/);
    await provider.start([`${origin}/v1/provider/callback`]);
    browser = await chromium.launch({ executablePath: '/usr/bin/chromium', args: ['--no-sandbox'] });
    context = await browser.newContext({ ignoreHTTPSErrors: true, viewport: { width: 1200, height: 800 } });
    page = await context.newPage();
    page.on('console', (message) => {
      // Of the plane, that is: what another origin shows or lacks is its own.
      const { url } = message.location();
      if (message.type() === 'error' && (url === '' || url.startsWith(origin)))
        complaints.push(`${message.text()} ${url}`);
    });
    page.on('pageerror', (error) => complaints.push(String(error)));
  });
  afterAll(async () => {
    await browser?.close();
    await Promise.all([plane?.close(), processes.close(), rm(home, { recursive: true })]);
  });

  const admitted = async (count: number, name: (n: number) => string): Promise<readonly string[]> => {
    const ids = Array.from({ length: count }, () => randomUUID());
    const actor = { kind: 'person', id: plane.personId } as const;
    for (let from = 0; from < count; from += AT_ONCE)
      await Promise.all(
        ids.slice(from, from + AT_ONCE).map((id, n) => {
          const token = { id, expiresAt: Date.now() + 3_600_000, owner: plane.personId, name: name(from + n) };
          const command = admit({ machineId: id, nodeId: id, keyHash: keyOf(id), identifierHash: id, token });
          return plane.store.decide(machine, { stream: machineStream(id) }, command, { actor });
        }),
      );
    return ids;
  };
  const keyOf = (id: string) => id.replaceAll('-', '').padEnd(64, '0');
  const checksIn = (id: string, said: Partial<Parameters<typeof check>[0]> = {}) =>
    plane.store.decide(
      machine,
      { claim: credentialKey(keyOf(id)) },
      check({ keyHash: keyOf(id), checkId: randomUUID(), ...said }),
      { actor: { kind: 'machine', id }, commandId: null },
    );
  const look = (name: string) => page.screenshot({ path: join(PICTURES, `${name}.png`) });
  const count = async (choice: string) => page.getByRole('button', { name: choice }).locator('.count').textContent();
  /** The next time that the page asks for something, nobody answers. */
  const cutOff = (path: string) => page.route(path, (route) => route.abort(), { times: 1 });
  const shows = (text: string) => page.getByText(text).first().waitFor({ timeout: 20_000 });

  it('asks whoever comes to sign in, and lets a link in once (U3)', async () => {
    await page.goto(origin);
    await page.getByLabel('Sign-in link').waitFor();
    await look('sign-in');
    const link = await plane.link();
    await page.goto(link);
    // Nothing of it stays in the address, where others would see it.
    await eventually('the link is gone', () => Promise.resolve(!page.url().includes('rcl_')));
    await page.getByRole('button', { name: 'Sign in', exact: true }).click();
    await shows('There is no machine yet');
    const [session, proof] = await context.cookies(origin);
    expect(session).toMatchObject({ name: '__Host-rollcall-session', httpOnly: true, secure: true, sameSite: 'Lax' });
    expect(proof).toMatchObject({ name: '__Host-rollcall-proof', httpOnly: false, secure: true, sameSite: 'Strict' });
    expect(await page.evaluate('document.cookie')).not.toContain('rco_');
    const stranger = await browser.newContext({ ignoreHTTPSErrors: true });
    const other = await stranger.newPage();
    await other.goto(link);
    await other.getByRole('button', { name: 'Sign in', exact: true }).click();
    await other.getByText('This sign-in link cannot be used').waitFor();
    await stranger.close();
  });

  it('makes a token that the agent enrols with, and shows its machine a moment later (N20, U3)', async () => {
    await page.getByRole('link', { name: 'Add a machine' }).click();
    await page.getByLabel('Name').fill('front desk');
    await page.getByRole('button', { name: 'Make a token' }).click();
    const token = (await page.locator('output.token').textContent()) ?? '';
    await look('token');
    expect(await plane.agent('front', ['enrol'], token)).toMatchObject({ code: 0 });
    await page.getByRole('link', { name: 'Machines' }).click();
    await shows('front desk');
    expect(await count('All')).toBe('1');
  });

  it('asks for a short code typed by hand, marks what the installation claims, and lets it in once (O12, C08)', async () => {
    const data = { identifier: randomUUID(), credentialHash: 'c'.repeat(64), profile: { hostname: HOSTILE } };
    const asked = await context.request.post(`${plane.machineApi.url}/v1/codes`, { data });
    const { userCode } = (await asked.json()) as { userCode: string };
    await page.goto(`${origin}/codes?code=${userCode}`);
    // A link fills nothing in: whoever sends it to a person would have it approved.
    expect(await page.getByLabel('The code that it shows').inputValue()).toBe('');
    await page.getByLabel('The code that it shows').fill('BBBB-BBBB');
    await page.getByRole('button', { name: 'Look' }).click();
    await eventually('it is refused', async () => ((await page.getByRole('alert').textContent()) ?? '') !== '');
    await page.getByLabel('The code that it shows').fill(userCode.toLowerCase());
    await page.getByRole('button', { name: 'Look' }).click();
    await shows('It says of itself, which proves nothing');
    await shows(`“${HOSTILE}”`);
    await look('code');
    await page.getByLabel('Name').fill('kiosk');
    await page.getByRole('button', { name: 'Let it in' }).click();
    await shows(`${userCode} is approved`);
    await page.getByLabel('The code that it shows').fill(userCode);
    await page.getByRole('button', { name: 'Look' }).click();
    await eventually('it is over', async () => ((await page.getByRole('alert').textContent()) ?? '') !== '');
  });

  it('signs a program in whose code a person types, once they have seen what it claims to be (O12)', async () => {
    const form = { client_id: 'rollcall', device_name: HOSTILE };
    const asked = await context.request.post(`${origin}/v1/device-authorization`, { form });
    const { user_code, device_code } = (await asked.json()) as { user_code: string; device_code: string };
    await page.goto(`${origin}/device?user_code=${user_code}`);
    expect(await page.getByLabel('The code that it shows').inputValue()).toBe('');
    await page.getByLabel('The code that it shows').fill(user_code.toLowerCase());
    await page.keyboard.press('Enter');
    await shows(`“${HOSTILE}”`);
    await look('device');
    await page.emulateMedia({ colorScheme: 'dark' });
    await page.setViewportSize({ width: 360, height: 700 });
    await look('device-phone-dark');
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(360);
    await page.setViewportSize({ width: 1200, height: 800 });
    await page.emulateMedia({ colorScheme: 'light' });
    await page.getByRole('button', { name: 'Sign it in as me' }).press('Enter');
    await shows(`${user_code} is approved`);
    const grant = { grant_type: 'urn:ietf:params:oauth:grant-type:device_code', client_id: 'rollcall', device_code };
    const token = await context.request.post(`${origin}/v1/token`, { form: grant });
    expect(await token.json()).toMatchObject({ token_type: 'Bearer', person: { id: plane.personId } });
  });

  it('shows 10,000 machines at once, of which it holds those in sight, and what happens to them as it happens (U3)', async () => {
    await page.getByRole('link', { name: 'Machines' }).click();
    const ids = await admitted(MACHINES, (n) => `box ${String(n).padStart(5, '0')}`);
    await eventually(
      'all are counted',
      async () => (await count('All')) === (MACHINES + 1).toLocaleString('en'),
      60_000,
    );
    expect(await page.locator('a.row').count()).toBeLessThan(60);
    const before = await page.locator('.table').boundingBox();
    const [first = '', second = ''] = ids.toSorted();
    await checksIn(first, { blockers: ['disk-full'] });
    await checksIn(second);
    await shows('disk-full');
    await look('machines');
    expect(await page.locator('.table').boundingBox()).toEqual(before);
    await eventually('it is counted', async () => (await count('Cannot take work')) === '1');
    await page.getByRole('button', { name: 'Cannot take work' }).click();
    await eventually('one is left', async () => (await page.locator('a.row').count()) === 1);
    await page.getByRole('button', { name: 'All' }).click();
    await page.getByRole('searchbox').fill('BOX 0777');
    await eventually('ten are found', async () => (await page.locator('a.row').count()) === 10);
    await page.getByRole('searchbox').fill('');
    // To its end, page by page.
    await eventually(
      'the list is whole',
      async () => {
        await page.locator('.rows').evaluate((rows) => rows.scrollTo({ top: rows.scrollHeight }));
        return (await page.locator('.table').getAttribute('aria-rowcount')) === String(MACHINES + 1);
      },
      60_000,
    );
  });

  it('shows what a machine says as text, and why it is what it is, with its history (B5, U4)', async () => {
    const [id = ''] = await admitted(1, () => HOSTILE);
    await checksIn(id, { report: { hostname: HOSTILE } });
    await page.goto(`${origin}/machines/${id}`);
    await page.getByRole('heading', { name: HOSTILE }).waitFor();
    await shows('present: it checked in at');
    await shows('checked in once');
    expect(await page.title()).toBe('Rollcall');
    await cutOff('**/history?after=start');
    await page.getByRole('button', { name: 'Replay from the record' }).click();
    await shows('The plane does not answer');
    await page.getByRole('button', { name: 'Replay from the record' }).click();
    await shows('1 checks accepted');
    await shows('it stands');
    await page.getByRole('button', { name: 'From the beginning' }).click();
    await shows('6 of 6 facts read');
    const lines = page.getByRole('listitem').filter({ has: page.locator('time') });
    expect(await lines.first().textContent()).toContain('admitted by');
    expect(await lines.last().textContent()).toContain('checked in once');
    await look('machine');
    await page.emulateMedia({ colorScheme: 'dark' });
    await page.setViewportSize({ width: 360, height: 700 });
    await look('machine-phone-dark');
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(360);
    await page.goto(origin);
    await page.locator('a.row').first().waitFor();
    await look('machines-phone-dark');
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(360);
    await page.setViewportSize({ width: 1200, height: 800 });
    await page.emulateMedia({ colorScheme: 'light' });
  });

  it('deletes a machine with the keyboard alone, once its name was typed (O18, O31)', async () => {
    await page.getByRole('searchbox').fill('front desk');
    await eventually('it is found', async () => (await page.locator('a.row').count()) === 1);
    await page.getByRole('searchbox').press('Tab');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'front desk' }).waitFor();
    await page.getByRole('button', { name: 'Delete this machine' }).press('Enter');
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Type its name').fill('front des');
    expect(await dialog.getByRole('button', { name: 'Delete' }).isDisabled()).toBe(true);
    await dialog.getByLabel('Type its name').fill('front desk');
    await look('delete');
    await page.keyboard.press('Enter');
    await shows('deleted');
    const { machines } = await (await Person.of(plane)).machines();
    expect(machines.some(({ name }) => name === 'front desk')).toBe(false);
  });

  it('is changed by nobody who cannot read what our own page reads (O3)', async () => {
    const attempt = (headers: { readonly [name: string]: string }) =>
      context.request.post(`${origin}/v1/enrolment-tokens`, {
        headers,
        data: { commandId: randomUUID(), tokenHash: 'a'.repeat(64) },
      });
    for (const headers of [{}, { origin }, { origin: 'https://evil.example', 'x-rollcall-proof': 'x' }]) {
      const refused = await attempt(headers);
      expect([refused.status(), ((await refused.json()) as { code: string }).code]).toEqual([403, 'cross-site']);
    }
    const { headers } = await fetchDocument();
    expect(headers['content-security-policy']).toMatch(/^default-src 'none'; script-src 'self';/);
    expect(headers['content-security-policy']).not.toMatch(/unsafe|\*|data:/);
    expect(headers['x-frame-options'] ?? headers['content-security-policy']).toContain('frame-ancestors');
  });
  const fetchDocument = async () => {
    const answer = await context.request.get(origin);
    return { headers: answer.headers() };
  };

  it('links an account at the identity provider to whoever is signed in, and signs in with it from then on (U3)', async () => {
    await page.goto(origin);
    await page.getByRole('link', { name: 'Ada' }).click();
    await shows('None: you sign in with links.');
    await page.getByRole('button', { name: 'Link an account at the house' }).click();
    await page.getByLabel('Account').fill('ada');
    await page.keyboard.press('Enter');
    await shows('linked on');
    expect(new URL(page.url()).pathname).toBe('/account');
    await look('account');
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByRole('button', { name: 'Sign in with the house' }).waitFor();
    await look('sign-in-provider');
    await page.emulateMedia({ colorScheme: 'dark' });
    await page.setViewportSize({ width: 360, height: 700 });
    await look('sign-in-provider-phone-dark');
    await page.getByRole('button', { name: 'Sign in with the house' }).press('Enter');
    await shows('linked on');
    await look('account-phone-dark');
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(360);
    await page.setViewportSize({ width: 1200, height: 800 });
    await page.emulateMedia({ colorScheme: 'light' });
    await page.goto(`${origin}/sign-in?problem=account-refused`);
    await shows('Nobody on this plane is linked to that account');
  });

  it('says what fails while it starts, follows and signs out, and comes back by itself; signed out, the session is over on every instance (U3, U9)', async () => {
    await cutOff('**/v1/me');
    const unavailable = { status: 503, json: { code: 'unavailable', title: 'This instance is stopping.' } };
    await page.route('**/v1/presence/stream', (route) => route.fulfill(unavailable), { times: 1 });
    await page.goto(origin);
    // Who is signed in is not asked to sign in because nobody can tell, and is there again a moment later.
    await shows('The plane does not answer');
    expect(await page.getByLabel('Sign-in link').count()).toBe(0);
    await page.getByText('waiting for the plane', { exact: true }).waitFor();
    await page.getByText('live', { exact: true }).waitFor();
    await cutOff('**/v1/sessions/current');
    await page.getByRole('button', { name: 'Sign out' }).click();
    await shows('The plane does not answer');
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByLabel('Sign-in link').waitFor();
    expect((await context.request.get(`${origin}/v1/me`)).status()).toBe(401);
    // All that a console may tell of are answers to somebody who is not signed in, or who typed a code that is none, or who looked at a machine as
    // it was deleted; and what was cut off on purpose.
    const isAnswer = (text: string) =>
      /status of (40[01]|404 .*\/v1\/machines\/[^/]+|503 .*\/v1\/presence\/stream)|net::ERR_FAILED/.test(text);
    expect(complaints.filter((text) => !isAnswer(text))).toEqual([]);
  });
});

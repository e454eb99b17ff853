import { randomUUID } from 'node:crypto';
import { chmod, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { EXIT, run } from '@rollcall/cli';
import { captured } from '@rollcall/cli/testing';
import { machine, machineStream } from '@rollcall/machine';
import { PinnedClient } from '@rollcall/pinned-https';
import {
  decodeEnrolmentToken,
  hashOf,
  makeSecret,
  type BlockerList,
  type History,
  type MachineDetail,
  type MachineList,
  type MachineView,
  type Readiness,
} from '@rollcall/wire';
import { startOperatorPlane, type OperatorPlane } from '../support/operator-plane.js';
import { eventually } from '../support/processes.js';

jest.setTimeout(60_000);

let plane: OperatorPlane;
let home: string;

beforeAll(async () => {
  [plane, home] = await Promise.all([startOperatorPlane(), mkdtemp(join(tmpdir(), 'rollcall-cli-'))]);
  const { exit, err } = await cli(['login'], { stdin: `${await plane.link()}\n` });
  if (exit !== EXIT.done) throw new Error(err);
});
afterAll(() => Promise.all([plane.close(), rm(home, { recursive: true })]));

/** One run of the CLI against the real plane. */
const cli = async (argv: string[], options: { stdin?: string; config?: string } = {}) => {
  const { config = join(home, 'config'), ...rest } = options;
  const surroundings = captured({ ...rest, env: { ROLLCALL_CONFIG_DIR: config } });
  const exit = await run(argv, surroundings);
  return { exit, ...surroundings.printed };
};
const json = async <Document>(argv: string[]): Promise<Document> => {
  const { exit, out, err } = await cli([...argv, '--json']);
  expect({ exit, err }).toEqual({ exit: EXIT.done, err: '' });
  return JSON.parse(out) as Document;
};
const mode = async (path: string): Promise<string> => ((await stat(path)).mode & 0o777).toString(8);

describe('rollcall login', () => {
  const elsewhere = () => join(home, randomUUID());

  it('keeps the session owner-only and says who signed in (U6)', async () => {
    const config = elsewhere();
    const { out, err, exit } = await cli(['login', await plane.link()], { config });
    expect({ exit, err }).toEqual({ exit: EXIT.done, err: '' });
    expect(out).toMatch(/^Signed in to https:\/\/127\.0\.0\.1:\d+ as Ada until \d{4}-/);
    expect([await mode(config), await mode(join(config, 'session.json'))]).toEqual(['700', '600']);
  });

  it('ends the session from before, once the new one is kept', async () => {
    const config = elsewhere();
    for (let time = 0; time < 2; time += 1) expect((await cli(['login', await plane.link()], { config })).err).toBe('');
    const facts = await plane.store.readStream(`person-${plane.personId}`);
    const [began, ended] = ['SessionStarted', 'SessionEnded'].map((type) =>
      facts.flatMap((fact) => (fact.kind === 'event' && fact.event.type === type ? [fact.event['sessionId']] : [])),
    );
    expect(ended?.at(-1)).toBe(began?.at(-2));
  });

  it('shows a code that is approved in a browser, and keeps the session that it then gets, owner-only (U6)', async () => {
    const config = elsewhere();
    await cli(['login', await plane.link()], { config });
    const { session } = JSON.parse(await readFile(join(config, 'session.json'), 'utf8')) as { session: string };
    await cli(['logout'], { config });
    // At the plane of the last time and with the key that was expected there, which outlive the session.
    const surroundings = captured({ env: { ROLLCALL_CONFIG_DIR: config }, pause: () => approvedMeanwhile() });
    const approvedMeanwhile = async (): Promise<void> => {
      const [, code = ''] = /type this code there: (\S+)/.exec(surroundings.printed.err) ?? [];
      await cli(['login', await plane.link()]);
      const browser = JSON.parse(await readFile(join(home, 'config', 'session.json'), 'utf8')) as { session: string };
      const client = new PinnedClient({ origin: plane.api.url, pins: plane.api.pins });
      const { status } = await client.request({
        method: 'POST',
        path: '/v1/logins/approve',
        headers: { 'content-type': 'application/json', authorization: `Bearer ${browser.session}` },
        body: JSON.stringify({ commandId: randomUUID(), code }),
      });
      client.abandonConnections();
      expect(status).toBe(200);
    };
    expect(await run(['login', plane.api.url, '--json'], surroundings)).toBe(EXIT.done);
    expect(JSON.parse(surroundings.printed.out)).toMatchObject({ address: plane.api.url, person: { name: 'Ada' } });
    expect(surroundings.printed.err).toContain(`Open ${plane.api.url}/device in a browser`);
    expect([await mode(join(config, 'session.json')), await mode(join(config, 'plane.json'))]).toEqual(['600', '600']);
    expect((await cli(['machines'], { config })).exit).toBe(EXIT.done);
    expect(await readFile(join(config, 'session.json'), 'utf8')).not.toContain(session);
  });

  it('leaves nothing behind when it is interrupted while it waits', async () => {
    const config = elsewhere();
    const surroundings = captured({
      env: { ROLLCALL_CONFIG_DIR: config },
      pause: () => {
        surroundings.interrupt();
        return Promise.reject(new Error('aborted'));
      },
    });
    const [, pin = ''] = (await plane.link()).split('.').slice(-2);
    expect(await run(['login', `${plane.api.url}/#${pin}`], surroundings)).toBe(EXIT.interrupted);
    expect(await readdir(config)).toEqual([]);
  });

  it('names what helps where a plane has a certificate of its own and its pin is not known', async () => {
    const { exit, err } = await cli(['login', plane.api.url], { config: elsewhere() });
    expect([exit, err]).toEqual([EXIT.failed, expect.stringContaining('together with its pin')]);
    expect((await cli(['login', 'http://plane.example'], { config: elsewhere() })).exit).toBe(EXIT.usage);
  });

  it('uses a link once, and refuses a used one in the same words as an unknown one', async () => {
    const link = await plane.link();
    const unknown = link.replace(/#rcl_[^.]+/, `#${makeSecret('rcl')}`);
    const config = elsewhere();
    expect((await cli(['login'], { stdin: link, config })).exit).toBe(EXIT.done);
    const [again, never] = [await cli(['login'], { stdin: link, config }), await cli(['login', unknown], { config })];
    expect(again.exit).toBe(EXIT.notSignedIn);
    expect(never).toEqual(again);
    // What was there stays.
    expect((await cli(['machines'], { config })).exit).toBe(EXIT.done);
  });

  it('sends nothing to a server that does not hold the pinned key', async () => {
    const link = await plane.link();
    const forged = link.replace(/\.[^.]+$/, `.${Buffer.alloc(32, 1).toString('base64url')}`);
    const config = elsewhere();
    const { exit, err } = await cli(['login', forged], { config });
    expect(exit).toBe(EXIT.failed);
    expect(err).toContain('is not the plane that was expected, so nothing was sent to it');
    expect((await cli(['login', link], { config })).exit).toBe(EXIT.done);
  });

  it('does not use a session that others can read', async () => {
    const config = elsewhere();
    await cli(['login', await plane.link()], { config });
    await chmod(join(config, 'session.json'), 0o644);
    const { exit, err } = await cli(['machines'], { config });
    expect(exit).toBe(EXIT.failed);
    expect(err).toContain('can be read or written by others (mode 644)');
  });

  it('ends at logout: here, and at the plane for a copy of the session', async () => {
    const [config, copy] = [elsewhere(), elsewhere()];
    await cli(['login', await plane.link()], { config });
    const session = await readFile(join(config, 'session.json'), 'utf8');
    await cli(['login', await plane.link()], { config: copy });
    await writeFile(join(copy, 'session.json'), session, { mode: 0o600 });
    expect((await cli(['machines'], { config: copy })).exit).toBe(EXIT.done);
    expect((await cli(['logout'], { config })).exit).toBe(EXIT.done);
    for (const where of [config, copy]) {
      const { exit, err } = await cli(['machines'], { config: where });
      expect(exit).toBe(EXIT.notSignedIn);
      expect(err).toContain('rollcall login');
    }
  });
});

describe('rollcall token issue', () => {
  it('prints the token alone on stdout, once; the plane knows its hash only (N20, U6)', async () => {
    const { out, err, exit } = await cli(['token', 'issue', '--name', 'edge-1', '--expires', '2m']);
    expect(exit).toBe(EXIT.done);
    expect(out).toMatch(/^rollcall1\.[\w-]+\.[0-9a-f]{8}\n$/);
    expect(err).toContain('as "edge-1"');
    expect(err).not.toContain(out.trim());
    const { address, pins, secret } = decodeEnrolmentToken(out);
    expect({ address, pins }).toEqual({ address: 'https://127.0.0.1:8443', pins: plane.api.pins });
    expect(await plane.store.holder(`enrolment-token:${hashOf(secret)}`)).toMatchObject({ released: false });
  });

  it('prints one document with --json, and expires after 15 minutes unless told', async () => {
    const issued = await json<{ token: string; id: string; expiresAt: string; name: null }>(['token', 'issue']);
    expect(decodeEnrolmentToken(issued.token).pins).toEqual(plane.api.pins);
    const { recordedAt } = await plane.store.newest();
    expect(Date.parse(issued.expiresAt) - recordedAt).toBeLessThanOrEqual(900_000);
    expect(Date.parse(issued.expiresAt) - recordedAt).toBeGreaterThan(870_000);
  });

  it.each([
    [['token', 'issue', '--expires', '5x'], '--expires'],
    [['token', 'issue', '--expires', '30s'], '--expires'],
    [['token', 'issue', '--name', ' '], 'name'],
    [['token', 'issue', '--colour', 'red'], '--colour'],
    [['machines', 'list', '--presence', 'asleep'], '--presence'],
    [['machines', 'rename', 'x'], 'name'],
    [['history'], 'machine'],
    [['history', 'x', '--limit', '0'], '--limit'],
  ])('names what is wrong with %j in one sentence (U6)', async (argv, named) => {
    const { exit, out, err } = await cli(argv);
    expect({ exit, out }).toEqual({ exit: EXIT.usage, out: '' });
    expect(err).toContain(named);
    expect(err.trimEnd()).not.toContain('\n');
  });
});

describe('rollcall machines', () => {
  it('shows a refused claim on an identifier where people look: on the machine, in the why, in its history (C03)', async () => {
    const joined = await plane.join({ name: 'claimed' });
    await joined.check();
    const claim = { type: 'NoteRefusedClaim', token: randomUUID(), hostname: 'impostor' } as const;
    const actor = { kind: 'plane', id: 'admission' } as const;
    // Twenty within a minute are one.
    for (let again = 0; again < 20; again += 1)
      await plane.store.decide(machine, { stream: machineStream(joined.id) }, claim, { actor });
    await plane.caughtUp();
    const told = await Promise.all(
      [['machines', 'show'], ['why'], ['history']].map((verb) => cli([...verb, 'claimed'])),
    );
    for (const { out } of told) expect(out.match(/impostor/g)).toEqual(['impostor']);
    expect(told[0]?.out).toContain('1 noted');
  });

  it('lists with --json what scripts rely on, also without `list` (U6)', async () => {
    const machine = await plane.join({ name: 'scripted' });
    await machine.check();
    await plane.caughtUp();
    const list = await json<MachineList>(['machines', '--name', 'scripted']);
    expect(list.asOf).toMatch(/^\d{4}-.*Z$/);
    expect(list.machines).toEqual([
      expect.objectContaining({
        id: machine.id,
        name: 'scripted',
        hostname: 'ip-10-0-0-7',
        presence: 'present',
        lastCheckAt: expect.any(String),
        lifecycle: 'running',
        stopReason: null,
        blockers: [],
        agentVersion: '0.1.0',
      }),
    ]);
    expect(await json<MachineList>(['machines', 'list', '--name', 'scripted'])).toMatchObject({
      machines: list.machines,
    });
  });

  it('shows a rename everywhere, and the reported hostname beside it (C02, O24)', async () => {
    const machine = await plane.join();
    await machine.check();
    expect((await cli(['machines', 'rename', machine.id, 'build-box'])).out).toBe(
      `Machine ${machine.id} is named "build-box".\n`,
    );
    await machine.check({ report: { hostname: 'ip-10-0-0-9' } });
    await plane.caughtUp();
    expect((await cli(['machines'])).out).toMatch(/build-box +ip-10-0-0-9 +present/);
    const shown = (await cli(['machines', 'show', 'build-box'])).out;
    expect(shown).toMatch(/Name +build-box\nHostname +ip-10-0-0-9\n/);
    const { machine: document } = await json<MachineDetail>(['machines', 'show', machine.id.slice(0, 13)]);
    expect(document).toMatchObject({ name: 'build-box', hostname: 'ip-10-0-0-9' });
  });

  it('says "present, but cannot take work" and what a person can do about it (O32)', async () => {
    const machine = await plane.join({ name: 'full-disk' });
    await machine.check({ blockers: ['disk-full'] });
    await plane.caughtUp();
    for (const argv of [['machines'], ['machines', 'show', 'full-disk']])
      expect((await cli(argv)).out).toMatch(/present, but cannot take work: .*\(disk-full\)/);
  });

  it('tells which blockers stand, on which machines, since when, and who can fix them (O21, O32)', async () => {
    const [one, other, noted] = [
      await plane.join({ name: 'blocked-one' }),
      await plane.join({ name: 'blocked-other' }),
      await plane.join({ name: 'blocked-not' }),
    ];
    await one.check({ blockers: ['clock-wrong'] });
    await one.check({ blockers: ['adoption-failed'] });
    await other.check({ blockers: ['adoption-failed', 'moon-phase'] });
    await noted.check({ blockers: ['update-pending'] });
    await plane.caughtUp();
    const blockers = await cli(['blockers']);
    expect(blockers.out).toMatch(/adoption-failed +2 .* ago|adoption-failed +2 +just now/);
    expect(blockers.out).toContain('the owner of the node: read the briefing');
    expect(blockers.out).toMatch(/moon-phase +1 .*blocked +30 s +for a reason that this plane does not know/);
    expect(blockers.out).not.toContain('clock-wrong');
    expect((await cli(['blockers', '--all'])).out).toMatch(/clock-wrong +0 /);
    const document = await json<BlockerList>(['blockers']);
    expect(document.blockers.find(({ code }) => code === 'moon-phase')).toMatchObject({ known: false, machines: 1 });

    const listed = async (...filter: string[]): Promise<readonly string[]> => {
      const { machines } = await json<MachineList>(['machines', '--name', 'blocked-', ...filter]);
      return machines.map(({ name }) => name ?? '').toSorted();
    };
    expect(await listed('--blocked')).toEqual(['blocked-one', 'blocked-other']);
    expect(await listed('--blocker', 'moon-phase')).toEqual(['blocked-other']);
    expect(await listed('--blocker', 'update-pending')).toEqual(['blocked-not']);
    expect((await cli(['machines', '--blocked', '--name', 'nobody'])).out).toBe('No machine matches.\n');

    const shown = (await cli(['machines', 'show', 'blocked-other'])).out;
    expect(shown).toMatch(/Blocker +moon-phase: for a reason .*, since .*; to be fixed by whoever runs the plane/);
    expect((await cli(['readiness', 'blocked-one'])).out).toMatch(
      /adoption-failed +\S+ \S+Z +it stands .*\nclock-wrong +\S+ \S+Z +\S+ \S+Z +\d+ s +blocked +the clock is wrong/,
    );
    const { episodes } = await json<Readiness>(['readiness', 'blocked-one']);
    expect(episodes.map(({ code, until }) => [code, until === null])).toEqual([
      ['adoption-failed', true],
      ['clock-wrong', false],
    ]);
    expect((await cli(['readiness', 'nobody'])).exit).toBe(EXIT.notFound);
    expect((await cli(['history', 'blocked-one'])).out).toMatch(
      /cannot take work any more: the clock is wrong \(clock-wrong\)[^]*one more reason not to take work: .*\(adoption-failed\); the clock is wrong \(clock-wrong\) lasted \d+ s/,
    );
  });

  it('keeps what is known of blockers while a machine has not probed (O25)', async () => {
    const machine = await plane.join({ name: 'unprobed' });
    await machine.check({ blockers: ['disk-full'] });
    await plane.caughtUp();
    const before = (await json<MachineDetail>(['machines', 'show', 'unprobed'])).machine;
    await machine.check({ blockers: null });
    await plane.caughtUp();
    const after = (await json<MachineDetail>(['machines', 'show', 'unprobed'])).machine;
    expect([after.blockers, after.sentence, after.canTakeWork]).toEqual([before.blockers, before.sentence, false]);
    expect((await cli(['machines', '--blocked'])).out).toMatch(
      /unprobed .*present, but cannot take work: .*\(disk-full\)/,
    );
  });

  it('never prints a control character of a hostname, in no form (U6)', async () => {
    const machine = await plane.join({ name: 'hostile' });
    await machine.check({ report: { hostname: 'a\u001b[2J\u009b31m\u202eb' } });
    await plane.caughtUp();
    for (const argv of [
      ['machines'],
      ['machines', 'show', 'hostile'],
      ['history', 'hostile'],
      ['machines', '--json'],
      ['history', 'hostile', '--json'],
    ]) {
      const { exit, out } = await cli(argv);
      expect(exit).toBe(EXIT.done);
      expect(out).toContain('\\u001b[2J\\u009b31m\\u202eb');
      expect(out.replaceAll('\n', '')).not.toMatch(/[\p{Cc}\u202e]/u);
    }
  });

  it('deletes with --yes only where nobody can be asked, and tells the whole history in order (O31)', async () => {
    const machine = await plane.join({ name: 'leaving' });
    await machine.check();
    await plane.caughtUp();
    const unasked = await cli(['machines', 'delete', 'leaving']);
    expect(unasked).toMatchObject({ exit: EXIT.usage, out: '' });
    expect(unasked.err).toContain('--yes');
    await machine.check();
    expect(await json(['machines', 'delete', 'leaving', '--yes'])).toEqual({
      machine: { id: machine.id, name: 'leaving', lifecycle: 'deleted' },
    });
    await expect(machine.check()).rejects.toThrow('credential-revoked');
    await plane.caughtUp();
    const { entries } = await json<History>(['history', machine.id]);
    const types = entries.map((entry) => (entry.kind === 'event' ? entry.type : entry.kind));
    expect([types[0], types.at(-1)]).toEqual(['MachineAdmitted', 'MachineDeleted']);
    const { out } = await cli(['history', 'leaving']);
    expect(out).toMatch(/admitted by Ada.*[\s\S]*checked in twice[\s\S]*deleted by Ada/);
    // By its last name, too.
    expect(await json(['history', 'leaving', '--credentials'])).toMatchObject({
      machine: { id: machine.id },
      generations: [{ generation: 1, checks: { count: 2 }, ended: { how: 'revoked', at: entries.at(-1)?.at } }],
    });
    const until = entries[0]?.at ?? '';
    const first = await json<History>(['history', 'leaving', '--to', until]);
    expect(first.entries.at(-1)).toMatchObject({ kind: 'event', at: until });
    expect((await json<History>(['history', 'leaving', '--limit', '1'])).entries).toEqual(entries.slice(-1));
  });

  it('ends with 4 for what does not exist, and names the candidates of what is not clear', async () => {
    expect(await cli(['machines', 'show', 'nobody'])).toEqual({
      exit: EXIT.notFound,
      out: '',
      err: 'There is no such machine.\n',
    });
    expect((await cli(['history', 'nobody', '--json'])).exit).toBe(EXIT.notFound);
    const [one, other] = [await plane.join({ name: 'twin' }), await plane.join({ name: 'twin' })];
    await plane.caughtUp();
    const { exit, err } = await cli(['machines', 'delete', 'twin', '--yes']);
    expect(exit).toBe(EXIT.failed);
    for (const { id } of [one, other]) expect(err).toContain(id);
  });
});

it('tells how far read models are, and rebuilds one (U6, U7)', async () => {
  await plane.caughtUp();
  expect((await cli(['read-models'])).out).toMatch(/presence +following +(\d+) +\1 +0/);
  expect(await json(['read-models', 'rebuild', 'presence'])).toEqual({ name: 'presence', rebuilding: true });
  await plane.caughtUp();
  expect((await cli(['read-models', 'rebuild', 'nothing'])).exit).toBe(EXIT.notFound);
});

it('says in one sentence that the plane does not answer', async () => {
  const gone = await plane.another();
  const config = join(home, 'gone');
  const link = (await plane.link()).replace(plane.api.url, gone.url);
  await cli(['login', link], { config });
  await gone.close();
  const { exit, err, out } = await cli(['machines'], { config });
  expect({ exit, out }).toEqual({ exit: EXIT.failed, out: '' });
  expect(err).toMatch(new RegExp(`^The plane at ${gone.url} does not answer \\(.*\\)\\.\n$`));
  const left = await cli(['logout'], { config });
  expect(left.err).toContain('it ends by itself at');
  await expect(stat(join(config, 'session.json'))).rejects.toThrow('ENOENT');
});

describe('rollcall machines watch', () => {
  it('tells as it happens what the plane streams, a JSON object per line, until Ctrl-C (U3, U6)', async () => {
    const machine = await plane.join({ name: 'watched' });
    await plane.caughtUp();
    const surroundings = captured({ env: { ROLLCALL_CONFIG_DIR: join(home, 'config') } });
    const running = run(['machines', 'watch', '--json', '--name', 'watched'], surroundings);
    const lines = () =>
      surroundings.printed.out
        .split('\n')
        .slice(0, -1)
        .map((line) => JSON.parse(line) as { change: string; machine: MachineView });
    await eventually('the machine is seen', () => Promise.resolve(lines().length === 1));
    await machine.check();
    await eventually('its arrival is told', () => Promise.resolve(lines().length > 1));
    surroundings.interrupt();
    expect(await running).toBe(EXIT.interrupted);
    expect(lines().map(({ change, machine: { id, presence } }) => [change, id, presence])).toEqual([
      ['seen', machine.id, 'not-yet-arrived'],
      ['changed', machine.id, 'present'],
    ]);
    expect(surroundings.printed.err).toBe('');
  });
});

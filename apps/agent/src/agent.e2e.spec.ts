import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { loadOrCreateAuthority } from '@rollcall/plane-ca';
import { encodeEnrolmentToken, hashOf, makeSecret } from '@rollcall/wire';
import { execFile } from 'node:child_process';
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, stat, symlink, truncate, writeFile } from 'node:fs/promises';
import { createServer } from 'node:tls';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { eventually, Processes, type StartOptions } from '../../../test/support/processes.js';
import { fill, smallVolume } from '../../../test/support/small-volume.js';
import { requireSystemTool } from '../../../test/support/system-tool.js';
import type { AgentStatus } from './daemon/agent-status.js';
import { EXIT } from './exit-code.js';
import { TestPlane } from './testing/test-plane.js';

// Many short processes one after the other, on machines that do other things as well.
jest.setTimeout(60_000);

const exec = promisify(execFile);

let scratch: string;
let agent: string;

beforeAll(async () => {
  scratch = await mkdtemp(join(tmpdir(), 'agent-'));
  agent = join(scratch, 'rollcall-agent.mjs');
  // A process of its own, as the build calls it: esbuild keeps a child that a test runner would have to wait for.
  await exec(process.execPath, [
    '--input-type=module',
    '-e',
    `import { build } from ${JSON.stringify(join(import.meta.dirname, '../build.mjs'))}; await build(${JSON.stringify(agent)});`,
  ]);
}, 60_000);

afterAll(() => rm(scratch, { recursive: true, force: true }));

/** One installation of the real, bundled agent. */
const installation = async (processes: Processes, at = join(scratch, 'state-')) => {
  const state = await mkdtemp(at);
  const env = { ROLLCALL_AGENT_INTERVAL_FLOOR_MS: '100', ROLLCALL_AGENT_PROBE_INTERVAL_MS: '200' };
  const argv = (command: string, ...rest: string[]) => [agent, command, '--state-dir', state, ...rest];
  const run = (command: string, options: StartOptions = {}, ...rest: string[]) =>
    processes.run(command, process.execPath, argv(command, ...rest), { ...options, env: { ...env, ...options.env } });
  return {
    state,
    file: (name: string) => join(state, name),
    run,
    enrol: (token: string, ...rest: string[]) => run('enrol', { input: `${token}\n` }, ...rest),
    daemon: (ready: RegExp = /is running, process/) =>
      processes.start('daemon', process.execPath, argv('run'), { env, ready }),
    status: async () => JSON.parse((await run('status', {}, '--json')).stdout) as AgentStatus,
  };
};

/** Whether the newest check names a code as a blocker, or leaves it out and knows about it. */
const says = ({ checks }: TestPlane, what: string): boolean => {
  const { blockers, notProbed } = checks.at(-1)?.body ?? {};
  const code = what.replace(/^not /, '');
  return code === what
    ? blockers?.includes(code) === true
    : blockers?.includes(code) === false && !notProbed?.includes(code);
};

const plane = () => mkdtemp(join(scratch, 'plane-')).then((directory) => TestPlane.start(directory));

/** The steps of one private write out of a trace of `strace -f -y`, which names the file behind each descriptor. */
const callsAbout = (trace: string, directory: string, name: string): string[] => {
  const temporary = `${directory}/.${name}.`;
  const calls: string[] = [];
  let isRenamed = false;
  for (const line of trace.split('\n').map((text) => text.replace(/^\d+ +/, ''))) {
    const isExclusive = /O_WRONLY\|O_CREAT\|O_EXCL\|O_NOFOLLOW\|O_CLOEXEC, 0600\)/.test(line);
    if (line.startsWith('openat(') && line.includes(temporary)) calls.push(isExclusive ? 'open exclusive 0600' : line);
    else if (/^p?write(64)?\(/.test(line) && line.includes(temporary)) calls.push('write');
    else if (line.startsWith('fsync(') && line.includes(temporary)) calls.push('fsync');
    else if (line.startsWith('rename(') && line.includes(`"${directory}/${name}"`)) {
      isRenamed = true;
      calls.push('rename');
    } else if (isRenamed && line.startsWith('openat(') && line.includes(`"${directory}"`)) calls.push('open directory');
    else if (isRenamed && line.startsWith('fsync(') && line.includes(`<${directory}>`)) {
      calls.push('fsync directory');
      break;
    }
  }
  return calls;
};

describe('the agent', () => {
  it('enrols with a token on standard input, checks in, and keeps nothing that others can read (N3, O5, O6)', async () => {
    await using processes = new Processes();
    await using home = await plane();
    const machine = await installation(processes);

    const enrolled = await machine.enrol(home.token());
    expect(enrolled).toMatchObject({ code: EXIT.ok });
    const daemon = await machine.daemon();
    await home.until(() => home.checks.length >= 3);

    const [first, second] = home.checks;
    expect(first?.body).toMatchObject({
      boot: { counter: 1 },
      sequence: 1,
      chain: null,
      said: 'running',
      blockers: null,
    });
    expect(first?.body.name).toBe(first?.body.report?.hostname);
    expect(second?.body).toMatchObject({ sequence: 2, chain: 'epoch.1.mac' });
    expect(await machine.status()).toMatchObject({ running: true, state: 'checking', machine: { name: 'a-name' } });
    for (const name of await readdir(machine.state)) {
      const found = await stat(machine.file(name)).catch((error: unknown) => {
        // A check replaces files by renaming: the one that is written may be in its place by now, under the name that counts.
        if (name.endsWith('.tmp')) return null;
        throw error;
      });
      if (found !== null) expect([name, (found.mode & 0o077).toString(8)]).toEqual([name, '0']);
    }
    await daemon.stop();
  });

  it('tells the plane when its credential file cannot be read any more, and when that was repaired (O21, O32)', async () => {
    await using processes = new Processes();
    await using home = await plane();
    const machine = await installation(processes);
    await machine.enrol(home.token());
    home.interval = 3_000;
    const daemon = await machine.daemon();
    // With an hour to the next check, what comes is there because something changed.
    await home.until(() => says(home, 'not credential-unreadable'));

    await chmod(machine.file('credential'), 0o644);
    await home.until(() => says(home, 'credential-unreadable'));
    const status = await machine.status();
    expect(status.readiness?.blockers).toContainEqual({
      code: 'credential-unreadable',
      sentence: expect.stringMatching(/^The credential file cannot be read\. .*restore the mode/),
    });
    expect((await machine.run('status')).stdout).toContain('blocker     credential-unreadable: The credential file');
    await chmod(machine.file('credential'), 0o600);
    await home.until(() => says(home, 'not credential-unreadable'));
    expect((await machine.status()).readiness?.blockers).not.toContainEqual(
      expect.objectContaining({ code: 'credential-unreadable' }),
    );
    await daemon.stop();
  });

  it('tells the plane when its clock is wrong, after three checks that say so, and when it is right again (O21)', async () => {
    await using processes = new Processes();
    await using home = await plane();
    const machine = await installation(processes);
    await machine.enrol(home.token());
    home.clockAhead = 7_200_000;
    home.refuse('unavailable');
    const daemon = await machine.daemon();
    await home.until(() => home.checks.at(-1)?.body.notProbed?.includes('clock-wrong') === true);
    expect((await machine.run('status')).stdout).toContain('not probed  clock-wrong: Not known whether the clock');
    const unheard = home.checks.length;
    home.accept();
    await home.until(() => says(home, 'clock-wrong'));
    expect(home.checks.length).toBeGreaterThanOrEqual(unheard + 4);
    home.clockAhead = 0;
    await home.until(() => says(home, 'not clock-wrong'));
    await daemon.stop();
  });

  it('goes on checking in on a full disk, tells the plane, and tells it when there is space again (O13, O21)', async () => {
    await using begun = new AsyncDisposableStack();
    const small = await smallVolume(begun, 96 * 2 ** 20);
    const processes = begun.use(new Processes());
    const home = begun.use(await plane());
    const machine = await installation(processes, join(small, 'state-'));
    await machine.enrol(home.token());
    const daemon = await machine.daemon();
    await home.until(() => says(home, 'not disk-full'));

    const filler = join(small, 'filler');
    // To the last byte: the agent can keep nothing then.
    await fill(filler);
    await home.until(() => says(home, 'disk-full'));
    const seen = home.checks.length;
    await home.until(() => home.checks.length >= seen + 3);
    // Between the two lines it stays what it was.
    await truncate(filler, 48 * 2 ** 20);
    const between = home.checks.length;
    await home.until(() => home.checks.length >= between + 5);
    expect(says(home, 'disk-full')).toBe(true);
    await truncate(filler, 8 * 2 ** 20);
    await home.until(() => says(home, 'not disk-full'));
    await daemon.stop();
  });

  it('sends not one byte of a request to a server that does not hold the pinned key (N3)', async () => {
    await using processes = new Processes();
    const machine = await installation(processes);
    const stranger = await loadOrCreateAuthority(await mkdtemp(join(scratch, 'stranger-')));
    const { certificatePem, keyPem } = await stranger.issueServerCertificate({ hosts: ['127.0.0.1'] });
    let bytes = 0;
    let connections = 0;
    const server = createServer({ cert: certificatePem, key: keyPem }, (socket) => {
      socket
        .on('data', (chunk: Buffer) => {
          bytes += chunk.length;
          socket.destroy();
        })
        .on('error', () => undefined);
    });
    server.on('connection', () => (connections += 1)).on('tlsClientError', () => undefined);
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    try {
      const expected = await loadOrCreateAuthority(await mkdtemp(join(scratch, 'expected-')));
      const address = `https://127.0.0.1:${(server.address() as AddressInfo).port}`;
      const token = (pin: string) => encodeEnrolmentToken({ address, pins: [pin], secret: makeSecret('rce') });
      const refused = await machine.enrol(token(expected.pin));
      expect(refused.code).toBe(EXIT.unreachable);
      expect(refused.output).toContain('not the plane that this token is for; nothing was sent');
      expect({ connections, bytes }).toEqual({ connections: 1, bytes: 0 });
      // With the right pin the same server is spoken to, so the count above can tell the difference.
      expect(await machine.enrol(token(stranger.pin))).toMatchObject({ code: EXIT.unreachable });
      expect(bytes).toBeGreaterThan(0);
    } finally {
      server.close();
    }
  });

  it('writes the credential so that its name never stands for half of it: the system calls, in their order (O6, C04)', async () => {
    await requireSystemTool('strace');
    await using processes = new Processes();
    await using home = await plane();
    const machine = await installation(processes);
    const trace = machine.file('../trace');
    const traced = await processes.run(
      'enrol',
      'strace',
      [
        '-f',
        '-y',
        '-o',
        trace,
        '-e',
        'trace=openat,write,pwrite64,fsync,rename',
        process.execPath,
        agent,
        'enrol',
        '--state-dir',
        machine.state,
      ],
      { input: `${home.token()}\n` },
    );
    expect(traced).toMatchObject({ code: EXIT.ok });
    const calls = callsAbout(await readFile(trace, 'utf8'), machine.state, 'credential');
    expect(calls).toEqual(['open exclusive 0600', 'write', 'fsync', 'rename', 'open directory', 'fsync directory']);
  }, 180_000);

  it('is answered with the same machine when the answer to an enrolment was lost and the same token is given again (N20)', async () => {
    await using processes = new Processes();
    await using home = await plane();
    const machine = await installation(processes);
    const token = home.token();

    home.losesEnrolmentAnswer = true;
    expect(await machine.enrol(token)).toMatchObject({ code: EXIT.unreachable });
    expect(await machine.enrol(token)).toMatchObject({ code: EXIT.ok });
    expect(await machine.enrol(token)).toMatchObject({ code: EXIT.ok });
    expect(new Set(home.enrolments.map(({ credentialHash }) => credentialHash)).size).toBe(1);

    const other = await installation(processes);
    expect(await other.enrol(token)).toMatchObject({ code: EXIT.refused });
    expect(await machine.enrol(home.token())).toMatchObject({ code: EXIT.alreadyEnrolled });
    expect(await machine.enrol(home.token(), '--replace')).toMatchObject({ code: EXIT.ok });
  });

  it('refuses a token that is too long, damaged or missing, and repeats nothing of it (O6)', async () => {
    await using processes = new Processes();
    const machine = await installation(processes);
    for (const input of ['', `rollcall1.${'a'.repeat(5_000)}`, 'rollcall1.YWJjZGVmZ2g.00000000']) {
      const { code, output } = await machine.run('enrol', { input });
      expect(code).toBe(EXIT.usage);
      expect(output).not.toContain('YWJj');
    }
  });

  it('counts its starts over a kill -9, and its second start finds the first and uses it (O7)', async () => {
    await using processes = new Processes();
    await using home = await plane();
    const machine = await installation(processes);
    await machine.enrol(home.token());

    const killed = await machine.daemon();
    await home.until(() => home.checks.length > 0);
    const second = await machine.run('run');
    expect(second).toMatchObject({ code: EXIT.ok, stdout: 'The agent is running already; using that one.\n' });
    killed.signal('SIGKILL');
    await killed.exited;

    const before = home.checks.length;
    const again = await machine.daemon();
    await home.until(() => home.checks.length > before);
    expect(home.checks.at(-1)?.body).toMatchObject({ boot: { counter: 2 }, sequence: 1 });
    expect(home.checks.filter(({ body }) => body.said === 'stopping')).toEqual([]);
    await again.stop();
  });

  it('stays stopped after an explicit stop until an explicit start (O7, O17)', async () => {
    await using processes = new Processes();
    await using home = await plane();
    const machine = await installation(processes);
    await machine.enrol(home.token());
    const daemon = await machine.daemon();
    await home.until(() => home.checks.length > 0);

    expect(await machine.run('stop')).toMatchObject({ code: EXIT.ok });
    expect(await daemon.exited).toEqual({ code: EXIT.ok, signal: null });
    expect(home.checks.at(-1)?.body).toMatchObject({ said: 'stopping', reason: 'person' });
    const refused = await machine.run('run');
    expect(refused.code).toBe(EXIT.stoppedByPerson);
    expect(refused.output).toContain('rollcall-agent start');
    expect(await machine.status()).toMatchObject({ running: false, stoppedByPersonSince: expect.any(String) });

    const seen = home.checks.length;
    expect(await machine.run('start')).toMatchObject({ code: EXIT.ok });
    await home.until(() => home.checks.length > seen);
    const { pid } = await machine.status();
    expect(await machine.run('start')).toMatchObject({ stdout: 'The agent is running already; using that one.\n' });
    expect((await machine.status()).pid).toBe(pid);
    expect(await machine.run('stop', {}, '--reason', 'restart')).toMatchObject({ code: EXIT.ok });
    expect(home.checks.at(-1)?.body).toMatchObject({ said: 'stopping', reason: 'restart' });
    expect((await machine.status()).stoppedByPersonSince).toBeNull();
  });

  it('keeps what a person said also when the running agent does not answer (O7)', async () => {
    await using processes = new Processes();
    await using home = await plane();
    const machine = await installation(processes);
    await machine.enrol(home.token());
    const frozen = await machine.daemon();
    frozen.signal('SIGSTOP');

    const stop = await machine.run('stop');
    expect(stop.code).toBe(EXIT.fault);
    expect(stop.output).toContain('does not answer');
    frozen.signal('SIGKILL');
    await frozen.exited;
    expect(await machine.run('run')).toMatchObject({ code: EXIT.stoppedByPerson });
  });

  it('uploads the last lines of its log when the plane asks for them, once, and no secret with them (O6, O26)', async () => {
    await using home = await plane();
    await using processes = new Processes();
    const machine = await installation(processes);
    const token = home.token();
    await machine.enrol(token);
    await machine.daemon();
    await home.until(() => home.checks.length > 1);
    const stamp = '2026-01-01T12:00:00.000Z';
    home.wantsLogTail = stamp;
    await home.until(() => home.uploads.length > 0);
    const seen = home.checks.length;
    await home.until(() => home.checks.length > seen + 2);
    const [upload, ...others] = home.uploads;
    expect(others).toEqual([]);
    expect(upload).toMatchObject({ stamp, credential: home.checks[0]?.credential });
    expect(upload?.log).toMatch(/^20\d\d-\S+Z info .*is running, process \d+\n/m);
    expect(upload?.log).toMatch(/ info Checked in\n/);
    for (const secret of [token, upload?.credential ?? '']) expect(upload?.log).not.toContain(secret);
  });

  it('goes on checking in when nobody reads its log any more, and when the disk of the log is full (O13)', async () => {
    await using processes = new Processes();
    await using home = await plane();
    const machine = await installation(processes);
    await machine.enrol(home.token());
    const command = `"${process.execPath}" "${agent}" run --state-dir "${machine.state}"`;
    for (const log of ['2>/dev/full', '2>&1 | :']) {
      const before = home.checks.length;
      const daemon = processes.start('daemon', '/bin/sh', ['-c', `${command} ${log}`], {
        env: { ROLLCALL_AGENT_INTERVAL_FLOOR_MS: '100' },
      });
      await home.until(() => home.checks.length >= before + 3);
      expect(await machine.run('stop', {}, '--reason', 'restart')).toMatchObject({ code: EXIT.ok });
      await (
        await daemon
      ).exited;
    }
  });

  it('says goodbye exactly once when the stop signal comes twice, and leaves no latch (O17, C17)', async () => {
    await using processes = new Processes();
    await using home = await plane();
    const machine = await installation(processes);
    await machine.enrol(home.token());
    const daemon = await machine.daemon();
    await home.until(() => home.checks.length > 0);

    let answer = () => undefined as void;
    home.onCheck = ({ body }) =>
      body.said === 'stopping' ? new Promise((resolve) => (answer = () => resolve(null))) : null;
    daemon.signal('SIGTERM');
    await eventually('the goodbye is under way', () =>
      Promise.resolve(home.checks.some(({ body }) => body.said === 'stopping')),
    );
    daemon.signal('SIGTERM');
    daemon.signal('SIGINT');
    expect((await machine.status()).state).toBe('stopping');
    answer();
    expect(await daemon.exited).toEqual({ code: EXIT.ok, signal: null });
    const last = home.checks.filter(({ body }) => body.said === 'stopping');
    expect(last.map(({ body }) => body.reason)).toEqual(['signal']);
    expect(await readdir(machine.state)).not.toContain('stopped-by-person');
  });

  it('repeats the goodbye under the same id when its answer is lost (C17)', async () => {
    await using processes = new Processes();
    await using home = await plane();
    const machine = await installation(processes);
    await machine.enrol(home.token());
    const daemon = await machine.daemon();
    await home.until(() => home.checks.length > 0);
    let lost = 0;
    home.onCheck = ({ body }) => (body.said === 'stopping' && (lost += 1) === 1 ? 'cut' : null);
    await daemon.stop();
    const last = home.checks.filter(({ body }) => body.said === 'stopping');
    expect(last).toHaveLength(2);
    expect(new Set(last.map(({ body }) => body.checkId)).size).toBe(1);
  });

  it('rotates by hand, with the agent running and without, and the old credential stays until the new one has succeeded (O19)', async () => {
    await using processes = new Processes();
    await using home = await plane();
    const machine = await installation(processes);
    await machine.enrol(home.token());
    const before = await readFile(machine.file('credential'), 'utf8');
    const alone = await machine.run('rotate');
    expect([alone.code, alone.stdout]).toEqual([EXIT.ok, expect.stringContaining('at its next start')]);
    expect(await readFile(machine.file('credential'), 'utf8')).toBe(before);
    expect((await stat(machine.file('credential.next'))).mode & 0o777).toBe(0o600);

    const daemon = await machine.daemon();
    await home.until(() => hashOf(home.checks.at(-1)?.credential ?? '') === home.rotations[0]?.hash);
    expect(await machine.run('rotate')).toMatchObject({ code: EXIT.ok });
    await home.until(() => hashOf(home.checks.at(-1)?.credential ?? '') === home.rotations[1]?.hash);
    await daemon.stop();
    expect(await readFile(machine.file('credential'), 'utf8')).not.toBe(before);
  });

  it('stops checking when its machine was deleted, stays up, and says what a person can do (O20)', async () => {
    await using processes = new Processes();
    await using home = await plane();
    const machine = await installation(processes);
    await machine.enrol(home.token());
    const before = await readFile(machine.file('credential'), 'utf8');
    home.refuse('credential-revoked');
    const daemon = await machine.daemon(/deleted at the plane/);

    const seen = home.checks.length;
    expect(await machine.status()).toMatchObject({ running: true, state: 'waiting-for-person' });
    expect((await machine.status()).sentence).toContain('rollcall-agent enrol');
    expect((await machine.run('status')).code).toBe(EXIT.deleted);
    expect(home.checks).toHaveLength(seen);
    expect(await readFile(machine.file('credential'), 'utf8')).toBe(before);

    // A person does it: the running daemon picks the new credential up at once.
    home.accept();
    expect(await machine.enrol(home.token())).toMatchObject({ code: EXIT.ok });
    await home.until(() => home.checks.length > seen);
    await daemon.stop();
  });

  it('changes nothing for a portal, a bare 410, a 404 or a redirect (O20)', async () => {
    await using processes = new Processes();
    await using home = await plane();
    const machine = await installation(processes);
    await machine.enrol(home.token());
    const before = await readFile(machine.file('credential'), 'utf8');
    const replies = [
      { status: 200, type: 'text/html', body: '<html>Sign in to the hotel</html>' },
      { status: 200, body: '{"welcome":true}' },
      { status: 410, body: '' },
      { status: 410, body: '{"code":"credential-revoked"}' },
      { status: 404, type: 'text/plain', body: 'not found' },
      { status: 302, headers: { location: `${home.address}/elsewhere` }, body: '' },
      { status: 410, type: 'application/problem+json', body: '{"code":"machine-melted"}' },
    ];
    const daemon = await machine.daemon();
    // What the first looks find is news, which overtakes a check; there is none after it.
    await home.until(() => says(home, 'not clock-wrong'));
    const taken = home.checks.length;
    home.onCheck = () => replies[home.checks.length - taken - 1] ?? null;
    await home.until(() => home.checks.length > taken + replies.length);
    // One check, repeated under its id until the plane itself took it.
    const repeated = home.checks.slice(taken, taken + replies.length + 1);
    expect(new Set(repeated.map(({ body }) => body.checkId)).size).toBe(1);
    expect(await machine.status()).toMatchObject({ state: 'checking' });
    expect(await readFile(machine.file('credential'), 'utf8')).toBe(before);
    await daemon.stop();
  });

  it('takes a higher start when the plane knows a later one, and checks at once', async () => {
    await using processes = new Processes();
    await using home = await plane();
    const machine = await installation(processes);
    await machine.enrol(home.token());
    home.interval = 3_000;
    home.onCheck = ({ body }) =>
      body.boot.counter <= 41
        ? { status: 409, type: 'application/problem+json', body: '{"code":"stale-check","highestBoot":41}' }
        : null;
    const daemon = await machine.daemon();
    await home.until(() => home.checks.length === 2);
    expect(home.checks[1]?.body).toMatchObject({ boot: { counter: 42 }, sequence: 1 });
    await daemon.stop();
    expect(await readFile(machine.file('boot'), 'utf8')).toBe('42\n');
  });

  it('listens on nothing but its UNIX socket (O1)', async () => {
    await requireSystemTool('ss', 'iproute2');
    await using processes = new Processes();
    await using home = await plane();
    const machine = await installation(processes);
    await machine.enrol(home.token());
    const daemon = await machine.daemon();
    await home.until(() => home.checks.length > 0);
    const { stdout } = await exec('ss', ['-H', '-l', '-n', '-p', '-a']);
    const listening = stdout
      .split('\n')
      .filter((line) => line.includes(`pid=${daemon.pid},`) && line.includes('LISTEN'));
    expect(listening.map((line) => line.trim().split(/\s+/).slice(0, 2).join(' '))).toEqual(['u_str LISTEN']);
    expect(listening[0]).toContain(machine.file('control.sock'));
    await daemon.stop();
  });

  it('is reached by no other account of the same computer: a forward of theirs ends before its socket (O29)', async () => {
    if (process.geteuid?.() !== 0) throw new Error('This test acts as another account, which only root may do');
    await requireSystemTool('perl', 'perl-base');
    await using processes = new Processes();
    // Everybody may come as far as to the directory of the installation.
    await chmod(scratch, 0o755);
    const machine = await installation(processes);
    const daemon = await machine.daemon();
    const socket = machine.file('control.sock');
    const connect = 'use IO::Socket::UNIX; print IO::Socket::UNIX->new(Peer => $ARGV[0]) ? "connected" : $!';
    const reachedBy = async (uid: number) =>
      (await exec('perl', ['-e', connect, socket], { uid, gid: uid, cwd: '/', env: { LC_ALL: 'C' } })).stdout;
    expect(await reachedBy(65_534)).toBe('Permission denied');
    expect(await reachedBy(0)).toBe('connected');
    // Not even where somebody has opened the way: the socket is the owner's, and so is the token that every request needs.
    await chmod(machine.state, 0o755);
    expect(await reachedBy(65_534)).toBe('Permission denied');
    expect((await stat(machine.file('control-token'))).mode & 0o777).toBe(0o600);
    await daemon.stop();
  });

  it('shows its credential and its token in no argument, environment or log (O6)', async () => {
    await using processes = new Processes();
    await using home = await plane();
    const machine = await installation(processes);
    const token = home.token();
    await machine.enrol(token);
    const { secret } = JSON.parse(await readFile(machine.file('credential'), 'utf8')) as { secret: string };
    const daemon = await machine.daemon();
    home.refuse('credential-unknown');
    await daemon.waitFor(/does not know the credential/);
    const seen = await Promise.all(
      ['cmdline', 'environ'].map((name) => readFile(`/proc/${daemon.pid}/${name}`, 'utf8')),
    );
    seen.push(daemon.output(), JSON.stringify(await machine.status()));
    for (const text of seen) {
      expect(text).not.toContain(secret);
      expect(text).not.toContain(token);
    }
    await daemon.stop();
  });

  it('stays up on a damaged credential, sends nothing, and says so (C04)', async () => {
    await using processes = new Processes();
    await using home = await plane();
    const machine = await installation(processes);
    await machine.enrol(home.token());
    await exec('truncate', ['-s', '0', machine.file('credential')]);
    await exec('truncate', ['-s', '512', machine.file('credential')]);
    const daemon = await machine.daemon(/credential unreadable/);
    expect(await machine.status()).toMatchObject({ running: true, state: 'credential-unreadable' });
    expect(home.checks).toEqual([]);
    expect((await stat(machine.file('credential'))).size).toBe(512);
    await daemon.stop();
  });

  it('ends with 2 on a state directory that it cannot use, and says why', async () => {
    await using processes = new Processes();
    const file = join(scratch, 'a-file');
    await writeFile(file, '');
    const link = join(scratch, 'a-link');
    await symlink(scratch, link);
    for (const place of [file, join(file, 'below'), link]) {
      const refused = await processes.run('run', process.execPath, [agent, 'run', '--state-dir', place]);
      expect(refused).toMatchObject({ code: EXIT.usage, stdout: '' });
      expect(refused.output).toContain(`The directory ${place} cannot be used`);
    }
  });

  it('refuses a path for its socket that the system would cut off', async () => {
    await using processes = new Processes();
    const machine = await installation(processes);
    const long = join(machine.state, 'd'.repeat(120));
    await mkdir(long);
    const refused = await machine.run('run', {}, '--runtime-dir', long);
    expect(refused.code).toBe(EXIT.usage);
    expect(refused.output).toMatch(/control socket is \d+ bytes long and the system allows 107/);
  });

  it('runs without a credential, and checks in as soon as it has one (O16)', async () => {
    await using processes = new Processes();
    await using home = await plane();
    const machine = await installation(processes);
    await chmod(machine.state, 0o755);
    const daemon = await machine.daemon();
    expect((await stat(machine.state)).mode & 0o777).toBe(0o700);
    expect(await machine.status()).toMatchObject({ running: true, state: 'not-enrolled' });
    const enrolled = await machine.enrol(home.token());
    expect(enrolled.stdout).toContain('The running agent checks in with it now.');
    await home.until(() => home.checks.length > 0);
    await daemon.stop();
  });
});

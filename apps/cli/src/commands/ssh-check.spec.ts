import { describe, expect, it } from '@jest/globals';
import { fingerprintOf, type HostKeyQuestion } from '@rollcall/ssh-session';
import { FakeLink, ManualSessionClock, openPacedSessionHost, PACE } from '@rollcall/ssh-session/testing';
import type { Context } from '../context.js';
import { EXIT, Failure, Interrupted } from '../failure.js';
import { Output } from '../output/output.js';
import { run } from '../run.js';
import { SessionFile } from '../session/session-file.js';
import { captured } from '../testing/captured.js';
import { sshCheck, type OpenHost, type SshCheckOptions } from './ssh-check.js';

const presented = { type: 'ssh-ed25519', blob: Buffer.from('a key').toString('base64') };
const KEY = fingerprintOf(presented);

type Scene = {
  readonly options?: SshCheckOptions;
  readonly json?: boolean;
  /** Whether a person looks on, or only at what is said beside the answer. */
  readonly terminal?: boolean | 'stderr';
  readonly stdin?: string;
  readonly env?: Readonly<Record<string, string>>;
  /** What is asked before there is a link. */
  readonly question?: HostKeyQuestion;
  /** What happens after so many seconds; at 0, while the program is still being loaded. */
  readonly at?: Readonly<Record<number, (link: FakeLink, interrupt: () => void) => void>>;
};

/** Runs the command over a link that a test plays, in a time that passes only while the command waits. */
const check = async ({ options = {}, json = false, terminal = false, stdin, question, at = {}, env }: Scene) => {
  const clock = new ManualSessionClock();
  const link = new FakeLink();
  let second = 0;
  const surroundings = captured({
    terminal: terminal !== false,
    ...(stdin === undefined ? {} : { stdin }),
    ...(env === undefined ? {} : { env }),
    pause: async (ms) => {
      await clock.advance(ms);
      second += 1;
      at[second]?.(link, surroundings.interrupt);
      if (second > 200) throw new Error('It goes on and on');
    },
  });
  if (terminal === 'stderr') Object.assign(surroundings.stdout, { isTTY: false });
  const open: OpenHost = (ports, confirm) => {
    at[0]?.(link, surroundings.interrupt);
    return openPacedSessionHost(
      {
        ...ports,
        dial: async () => {
          if (question && !(await confirm(question))) throw new Error('The key was not confirmed');
          return link;
        },
      },
      PACE,
      clock,
    );
  };
  const context: Context = {
    surroundings,
    output: new Output(surroundings.stdout, surroundings.stderr, { NO_COLOR: '1' }, json),
    sessions: new SessionFile('/nowhere'),
    plane: () => Promise.reject(new Error('No plane is asked')),
    planeAt: () => {
      throw new Error('No plane is asked');
    },
  };
  const failure = await sshCheck('me@box', options, context, open).then(
    () => null,
    (error: unknown) => error as Error,
  );
  return { ...surroundings.printed, failure, link, pending: clock.pending, seconds: second };
};

const lines = (text: string) =>
  text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Record<string, unknown>);

const silent = (link: FakeLink) => {
  link.probes = 'waits';
};

describe('ssh-check', () => {
  it('says each answer, that there is none, and within a minute that the connection is lost (T-1.9, T-2.12)', async () => {
    const { out, failure, link, pending, seconds } = await check({ at: { 16: silent } });
    expect(out.trimEnd().split('\n')).toEqual([
      'me@box: connected. Ctrl-C ends the check.',
      'me@box: answered in 0 ms, silent for 0 s',
      'me@box: no answer for 31 s',
    ]);
    expect(failure).toEqual(new Failure('The connection to me@box is lost: no answer for 45 s.'));
    expect((failure as Failure).exitCode).toBe(EXIT.failed);
    expect(seconds).toBe(61);
    expect([link.ended, link.count('close link'), pending]).toEqual([true, 1, 0]);
  });

  it('prints one JSON object for each event where a program listens', async () => {
    const { out } = await check({ json: true, at: { 16: silent } });
    expect(lines(out)).toEqual([
      { event: 'connected', host: 'me@box' },
      { event: 'answer', roundTripMs: 0, silenceMs: 0 },
      { event: 'unresponsive', roundTripMs: 0, silenceMs: 31_000 },
      { event: 'lost', cause: 'silence', silenceMs: 45_001, failedCloses: [] },
    ]);
  });

  it('keeps one line current at a terminal', async () => {
    const { out, err } = await check({ terminal: true, at: { 3: (link) => link.end() } });
    expect(out).toBe('me@box: connected. Ctrl-C ends the check.\n');
    expect(err.split('\r\u001b[K').slice(1, 4)).toEqual([
      'me@box: no answer yet, silent for 0 s',
      'me@box: no answer yet, silent for 1 s',
      'me@box: no answer yet, silent for 2 s',
    ]);
    expect(err.endsWith('\r\u001b[K')).toBe(true);
  });

  it('writes a line for each answer where the answers go to a file, also if a person waits at a terminal', async () => {
    const { out, err } = await check({ terminal: 'stderr', at: { 17: (link) => link.end() } });
    expect(out.trimEnd().split('\n')).toEqual([
      'me@box: connected. Ctrl-C ends the check.',
      'me@box: answered in 0 ms, silent for 0 s',
    ]);
    expect(err).not.toContain('answered');
  });

  it('says at once that the connection ended', async () => {
    const { failure, seconds } = await check({ at: { 3: (link) => link.end() } });
    expect(failure?.message).toBe('The connection to me@box is lost: it ended.');
    expect(seconds).toBe(3);
  });

  it('leaves nothing on Ctrl-C, whether the far side answers or not, and runs nothing there (T-2.4, T-2.11)', async () => {
    for (const at of [
      { 5: (_: FakeLink, interrupt: () => void) => interrupt() },
      { 16: silent, 50: (_: FakeLink, interrupt: () => void) => interrupt() },
    ]) {
      const { failure, link, pending } = await check({ at });
      expect(failure).toBeInstanceOf(Interrupted);
      expect([link.ended, link.count('close link'), link.count('close forward'), pending]).toEqual([true, 1, 1, 0]);
      expect(link.journal.filter((what) => what.startsWith('exec'))).toEqual([]);
    }
  });
});

it('dials nobody after a Ctrl-C that came before it could', async () => {
  const { failure, link, out, pending } = await check({ at: { 0: (_, interrupt) => interrupt() } });
  expect(failure).toBeInstanceOf(Interrupted);
  expect([link.journal, out, pending]).toEqual([[], '', 0]);
});

it('says where no socket can be made, and dials nobody then', async () => {
  const { failure, link } = await check({ env: { TMPDIR: '/nowhere' } });
  expect(failure).toBeInstanceOf(Failure);
  expect(failure?.message).toMatch(/^There is no place for a socket in \/nowhere \(TMPDIR\): .*\.$/);
  expect(link.journal).toEqual([]);
});

describe('the key of a host', () => {
  const question = { host: 'box', presented, pinned: null };
  const end = { 1: (link: FakeLink) => link.end() };

  it('is shown to a person, who has to say yes (C30, O9)', async () => {
    const { err } = await check({ question, terminal: true, stdin: 'yes\n', at: end });
    expect(err).toContain(KEY);
    const refused = await check({ question, terminal: true, stdin: 'y\n', at: end });
    expect(refused.failure?.message).toBe('The key was not confirmed.');
  });

  it.each([
    ['ssh-ed25519', 'ed25519'],
    ['ssh-rsa', 'rsa'],
    ['ecdsa-sha2-nistp256', 'ecdsa'],
  ])('of the type %s is compared with the file that has it on the host', async (type, file) => {
    const other = { ...question, presented: { ...presented, type } };
    const { err } = await check({ question: other, terminal: true, stdin: 'no\n' });
    expect(err).toContain(`ssh-keygen -lf /etc/ssh/ssh_host_${file}_key.pub`);
  });

  it('is taken from a script that names its fingerprint, and from no other (C30)', async () => {
    const accepted = await check({ question, options: { acceptHostKey: [KEY] }, at: end });
    expect(accepted.failure?.message).toContain('is lost');
    for (const acceptHostKey of [[], [`SHA256:${'A'.repeat(43)}`]]) {
      const { failure, err, link } = await check({ question, options: { acceptHostKey }, stdin: 'yes\n', at: end });
      expect(failure?.message).toBe('The key was not confirmed.');
      expect(err).toContain(`--accept-host-key ${KEY}`);
      expect(link.journal).toEqual([]);
    }
  });

  it('behind a bastion is not taken by a fingerprint where it is the bastion’s own (C30)', async () => {
    const same = { ...question, sameAs: 'between' };
    const { failure, err } = await check({ question: same, options: { acceptHostKey: [KEY] }, at: end });
    expect(failure?.message).toBe('The key was not confirmed.');
    expect(err).toContain('box presents the key of between');
    const asked = await check({ question: same, terminal: true, stdin: 'yes\n', at: end });
    expect(asked.failure?.message).toContain('is lost');
  });

  it('that has changed is never asked about: only its fingerprint, named, replaces the one before (C30)', async () => {
    const changed = { ...question, pinned: { type: 'ssh-ed25519', blob: Buffer.from('another').toString('base64') } };
    const asked = await check({ question: changed, terminal: true, stdin: 'yes\n', at: end });
    expect(asked.failure?.message).toBe('The key was not confirmed.');
    const { failure } = await check({ question: changed, options: { acceptHostKey: [KEY] }, at: end });
    expect(failure?.message).toContain('is lost');
  });
});

describe('wrong usage', () => {
  it.each([
    ['an interval', ['ssh-check', 'box', '--interval', '5'], "Unknown option '--interval'"],
    ['a deadline', ['ssh-check', 'box', '--deadline', '60'], "Unknown option '--deadline'"],
    ['a time limit', ['ssh-check', 'box', '--timeout', '60'], "Unknown option '--timeout'"],
    ['trust in any key', ['ssh-check', 'box', '--accept-host-key', 'any'], 'SHA256:'],
    ['no host', ['ssh-check', ''], 'It is empty.'],
    ['what is no port', ['ssh-check', 'box', '--port', '70000'], '65535'],
    ['what is no destination', ['ssh-check', 'a@b@c:d'], 'is not [user@]host[:port]'],
  ])('is %s (T-1.10, C30, U6)', async (_what, argv, words) => {
    const surroundings = captured({ env: { ROLLCALL_CONFIG_DIR: '/nobody/is/signed/in' } });
    expect(await run(argv, surroundings)).toBe(EXIT.usage);
    expect(surroundings.printed.err).toContain(words);
  });
});

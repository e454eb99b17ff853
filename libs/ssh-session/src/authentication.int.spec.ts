import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import ssh2, { type ParsedKey } from 'ssh2';
import { eventually, openHandles, Processes } from '../../../test/support/processes.js';
import { destinationTo, FarSocket, OperatorSide } from '../../../test/support/ssh-dialing.js';
import { makeKeyPair } from '../../../test/support/ssh-keys.js';
import { LOGGED, startSshd, type TestSshd } from '../../../test/support/sshd.js';
import { NotAuthenticated, type Destination } from './index.js';
import { ManualSessionClock } from './testing/index.js';

const run = promisify(execFile);

let leaked: ReturnType<typeof openHandles>;
let sshd: TestSshd;
let side: OperatorSide;
const processes = new Processes();

beforeAll(async () => {
  leaked = openHandles();
  sshd = await startSshd();
  side = await OperatorSide.make();
});
afterAll(async () => {
  await side[Symbol.asyncDispose]();
  await processes.close();
  await sshd.close();
  expect(await leaked()).toEqual([]);
});

/** An ssh-agent that holds these keys, in this order. */
const agentWith = async (name: string, ...keys: readonly string[]): Promise<string> => agentThat([], name, ...keys);

const agentThat = async (how: readonly string[], name: string, ...keys: readonly string[]): Promise<string> => {
  const socket = join(side.directory, `${name}.agent`);
  await processes.start('ssh-agent', 'ssh-agent', ['-D', '-a', socket], { ready: /SSH_AUTH_SOCK/ });
  const files = keys.map((_, index) => join(side.directory, `${name}-${index}`));
  await Promise.all(keys.map((key, index) => writeFile(files[index]!, key, { mode: 0o600 })));
  if (files.length > 0)
    await run('ssh-add', ['-q', ...how, ...files], { env: { ...process.env, SSH_AUTH_SOCK: socket } });
  return socket;
};

const strangers = (count: number) => Array.from({ length: count }, () => makeKeyPair('ed25519').private);

/** Whether the server lets somebody in who has this to show. */
const isLetIn = async (shown: Partial<Destination>): Promise<boolean> => {
  const link = await side.dial(destinationTo(sshd, { identities: [], ...shown }));
  await link.close();
  return true;
};

it('lets the ssh-agent sign, and needs no key file then', async () => {
  const agent = await agentWith('one', sshd.key.private);
  expect(await isLetIn({ agent })).toBe(true);
});

it('goes on to the key files where the agent is gone or holds nothing that helps', async () => {
  expect(await isLetIn({ agent: join(side.directory, 'no-agent'), identities: [sshd.keyFile] })).toBe(true);
  const agent = await agentWith('strangers', ...strangers(2));
  expect(await isLetIn({ agent, identities: [join(side.directory, 'no-file'), sshd.keyFile] })).toBe(true);
});

it('goes on to the key files where the agent does not sign', async () => {
  // It would have to ask somebody first, and has nobody to ask.
  const agent = await agentThat(['-c'], 'cautious', sshd.key.private);
  await expect(isLetIn({ agent })).rejects.toThrow(NotAuthenticated);
  expect(await isLetIn({ agent, identities: [sshd.keyFile] })).toBe(true);
  // Whoever declines is not asked once more because the key has a file as well.
  const named = join(side.directory, 'declined');
  await writeFile(`${named}.pub`, sshd.key.public);
  const attempts = async (identities: readonly string[]) => {
    const before = sshd.count(LOGGED.attempt);
    await expect(isLetIn({ agent, identities })).rejects.toThrow(NotAuthenticated);
    return sshd.count(LOGGED.attempt) - before;
  };
  expect(await attempts([named])).toBe(await attempts([]));
});

it('asks the agent for the configured keys only where the person says so: a server ends the connection after six', async () => {
  const agent = await agentWith('many', ...strangers(7), sshd.key.private);
  const named = join(side.directory, 'named');
  await writeFile(`${named}.pub`, sshd.key.public);
  await expect(isLetIn({ agent })).rejects.toThrow(/many authentication failures/i);
  const before = sshd.count(LOGGED.attempt);
  expect(await isLetIn({ agent, identities: [named], isIdentitiesOnly: true })).toBe(true);
  // Asked whether it would be taken, and then used.
  expect(sshd.count(LOGGED.attempt) - before).toBeLessThanOrEqual(3);
});

it('shows the agent’s keys that are those of named files first, named files next, and no key twice: a server ends the connection after six', async () => {
  const many = await agentWith('eight', ...strangers(7), sshd.key.private);
  const stranger = await agentWith('seven', ...strangers(7));
  const named = join(side.directory, 'named-half');
  await writeFile(`${named}.pub`, sshd.key.public);
  expect(await isLetIn({ agent: many, identities: [named] })).toBe(true);
  expect(await isLetIn({ agent: stranger, identities: [sshd.keyFile], named: [sshd.keyFile] })).toBe(true);
  await expect(isLetIn({ agent: stranger, identities: [sshd.keyFile] })).rejects.toThrow(
    /ended the connection after 6 keys.*Too many authentication failures.*IdentitiesOnly/,
  );
  const before = sshd.count(LOGGED.attempt);
  const files = [join(side.directory, 'eight-0'), join(side.directory, 'eight-1')];
  await expect(isLetIn({ agent: many, identities: files, isIdentitiesOnly: true })).rejects.toThrow(
    /any of the 2 keys/,
  );
  // Nothing at all comes first; it makes the server say what it takes.
  expect(sshd.count(LOGGED.attempt) - before).toBe(3);
});

it('finds a key with a passphrase in the agent by the public half that its file begins with', async () => {
  const agent = await agentWith('unlocked', ...strangers(6), sshd.key.private);
  const locked = join(side.directory, 'locked-alone');
  await writeFile(locked, sshd.key.private, { mode: 0o600 });
  await run('ssh-keygen', ['-q', '-p', '-N', 'secret', '-f', locked]);
  expect(await isLetIn({ agent, identities: [locked], isIdentitiesOnly: true })).toBe(true);
});

it('says that no agent answers, that it is empty, or that it has none of the keys it may be asked for', async () => {
  const nobody = join(side.directory, 'nobody.agent');
  await expect(isLetIn({ agent: nobody })).rejects.toThrow(`no ssh-agent answers at ${nobody} (SSH_AUTH_SOCK`);
  await expect(isLetIn({ agent: await agentWith('empty') })).rejects.toThrow('holds no key (ssh-add adds one)');
  const agent = await agentWith('others', ...strangers(1));
  await expect(isLetIn({ agent, isIdentitiesOnly: true })).rejects.toThrow(
    'holds none of the keys that are configured',
  );
});

it('says of a server that wants more than a key what that is, also where the agent has signed', async () => {
  const strict = await startSshd(['PasswordAuthentication yes', 'AuthenticationMethods publickey,password']);
  try {
    const agent = await agentWith('half', strict.key.private);
    for (const shown of [{ agent, identities: [] }, { identities: [strict.keyFile] }])
      await expect(side.dial(destinationTo(strict, { pinName: 'strict', ...shown }))).rejects.toThrow('takes a key of');
  } finally {
    await strict.close();
  }
});

/** An ssh-agent of the test's own that holds one key. @param sign what it does when it is asked to sign with it */
const listingAgent = (name: string, key: ParsedKey, sign: (reply: () => void) => void) =>
  FarSocket.listen(join(side.directory, name), (socket) => {
    const agent = new ssh2.AgentProtocol(false);
    agent.on('identities', (request) => agent.getIdentitiesReply(request, [key]));
    agent.on('sign', (request, _key, data) => sign(() => agent.signReply(request, key.sign(data))));
    socket.pipe(agent).pipe(socket);
  });

describe('an ssh-agent that says nothing', () => {
  const hasBeenLeft = (agent: FarSocket) =>
    eventually('the agent is left', () => Promise.resolve(agent.accepted.every(({ readableEnded }) => readableEnded)));
  const asked = (agent: FarSocket, times = 1) =>
    eventually('the agent is asked', () => Promise.resolve(agent.accepted.length === times));

  it('is left with a dial that is called off, and nothing of it stays', async () => {
    const left = openHandles();
    await using agent = await FarSocket.listen(join(side.directory, 'mute'), (socket) => void socket.resume());
    const off = new AbortController();
    const dialling = side.dial(destinationTo(sshd, { agent: agent.path, identities: [] }), off.signal);
    const refusal = dialling.catch((error: unknown) => error);
    await asked(agent);
    off.abort(new Error('called off'));
    expect(await refusal).toMatchObject({ message: 'called off' });
    await hasBeenLeft(agent);
    await agent[Symbol.asyncDispose]();
    expect(await left()).toEqual([]);
  });

  it('is not waited for longer than ten seconds where there are key files', async () => {
    await isLetIn({ identities: [sshd.keyFile] });
    await using agent = await FarSocket.listen(join(side.directory, 'dumb'), (socket) => void socket.resume());
    const clock = new ManualSessionClock();
    const dialling = side.dial(destinationTo(sshd, { agent: agent.path }), undefined, clock);
    await asked(agent);
    await clock.advance(10_000);
    await (await dialling).close();
    await hasBeenLeft(agent);
    expect(clock.pending).toBe(0);
  });

  it('may be asking a person before it signs: two minutes are theirs and not the host’s', async () => {
    await isLetIn({ identities: [sshd.keyFile] });
    const key = ssh2.utils.parseKey(sshd.key.private) as ParsedKey;
    for (const isPatient of [true, false]) {
      const signing = Promise.withResolvers<() => void>();
      await using agent = await listingAgent(`slow-${isPatient}`, key, signing.resolve);
      const clock = new ManualSessionClock();
      const dialling = side.dial(destinationTo(sshd, { agent: agent.path, identities: [] }), undefined, clock);
      const outcome = dialling.then(
        (link) => link.close().then(() => 'let in'),
        (error: Error) => error.message,
      );
      const sign = await signing.promise;
      await clock.advance(isPatient ? 119_999 : 120_000);
      if (isPatient) sign();
      expect(await outcome).toBe(isPatient ? 'let in' : 'The ssh-agent did not sign within 120 s');
      await hasBeenLeft(agent);
      expect(clock.pending).toBe(0);
    }
  });
});

it('says which key has a passphrase or is of no use here, and that the agent is the way', async () => {
  const locked = join(side.directory, 'locked');
  await run('ssh-keygen', ['-q', '-t', 'ed25519', '-N', 'secret', '-f', locked]);
  const odd = join(side.directory, 'odd');
  await writeFile(odd, 'no key at all', { mode: 0o600 });
  const refusal = await isLetIn({ identities: [locked, odd, side.directory] }).catch(
    (error: unknown) => error as Error,
  );
  expect(refusal).toBeInstanceOf(NotAuthenticated);
  expect(String(refusal)).toMatch(
    /locked has a passphrase: add it to the ssh-agent.*odd cannot be used here.*cannot be read \(EISDIR\)/,
  );
});

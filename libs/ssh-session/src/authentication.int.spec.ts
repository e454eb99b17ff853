import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { openHandles, Processes } from '../../../test/support/processes.js';
import { destinationTo, OperatorSide } from '../../../test/support/ssh-dialing.js';
import { makeKeyPair } from '../../../test/support/ssh-keys.js';
import { LOGGED, startSshd, type TestSshd } from '../../../test/support/sshd.js';
import { NotAuthenticated, type Destination } from './index.js';

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
  for (const [index, key] of keys.entries()) {
    const file = join(side.directory, `${name}-${index}`);
    await writeFile(file, key, { mode: 0o600 });
    await run('ssh-add', ['-q', ...how, file], { env: { ...process.env, SSH_AUTH_SOCK: socket } });
  }
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

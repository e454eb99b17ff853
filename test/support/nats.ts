import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { EmbeddedNats, findNatsServer } from '@rollcall/embedded-nats';
import { NATS_RIGHTS } from '@rollcall/feed-nats';
import { freePort } from './processes.js';
import { requireSystemTool } from './system-tool.js';

/** A nats-server of one test file, in a directory of its own. */
export type TestNats = {
  /** For faults: `kill()`, `start()`, and `storeDirectory` while it is down. */
  readonly server: EmbeddedNats;
  /** Where it lives. */
  readonly directory: string;
  /** Where the program is. */
  readonly program: string;
  /** `nats://127.0.0.1:<port>` */
  readonly url: string;
  /** Owner-only files with one line `user:password`; `admin` may do anything. */
  readonly credentials: Readonly<Record<'relay' | 'projector' | 'subscriber' | 'admin', string>>;
  /** The password of one of them. */
  password(user: string): Promise<string>;
  /** Stops the server and removes its directory. */
  close(): Promise<void>;
};

/** Starts a nats-server for tests, with the users and rights of a plane and an `admin`; where there is none, root gets one from apt. */
export const startNats = async (): Promise<TestNats> => {
  if ((await findNatsServer(process.env)) === null) await requireSystemTool('nats-server');
  const program = await findNatsServer(process.env);
  if (program === null) throw new Error('There is still no nats-server');
  const directory = await mkdtemp(join(tmpdir(), 'rollcall-nats-'));
  const users = Object.entries({ ...NATS_RIGHTS, admin: { publish: ['>'], subscribe: ['>'] } });
  const server = await EmbeddedNats.open({
    directory,
    port: await freePort(),
    program,
    users: users.map(([name, rights]) => ({ name, ...rights })),
  });
  const file = (user: string) => server.credentialsFile(user);
  return {
    server,
    directory,
    program: program.path,
    url: server.url,
    credentials: {
      relay: file('relay'),
      projector: file('projector'),
      subscriber: file('subscriber'),
      admin: file('admin'),
    },
    password: async (user) => (await readFile(file(user), 'utf8')).trim().slice(user.length + 1),
    close: async () => {
      await server.stop();
      await rm(directory, { recursive: true, force: true });
    },
  };
};

import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { mkdir, realpath, rmdir } from 'node:fs/promises';
import { createServer, connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fitsSocketPath } from '@rollcall/local-control';

/** Where one standalone plane keeps everything. */
export type DataDirectory = {
  readonly root: string;
  readonly postgres: string;
  readonly nats: string;
  /** The plane's own CA and the server certificates. */
  readonly ca: string;
  readonly chainKey: string;
  readonly webhookKey: string;
  /** State of the local agent. */
  readonly agent: string;
  /** Where the local agent has its socket: with its state, or in a short place of its own where that path is too long for one. */
  readonly agentRuntime: string;
  readonly logs: string;
  /** Lets the next start have the directory. */
  release(): Promise<void>;
};

/** Another plane runs on this directory. */
export class DirectoryInUse extends Error {
  override readonly name = 'DirectoryInUse';
  constructor(directory: string, pid: string) {
    super(
      `A plane already runs on ${directory} (process ${pid}). Stop it with Ctrl-C there, or choose another directory: npm start -- --data DIR`,
    );
  }
}

/**
 * Opens a directory for one plane at a time. The lock is a name in the kernel (an abstract UNIX socket), so it ends with its process,
 * whatever ended it, and no file can be left behind to be wrong.
 *
 * @throws DirectoryInUse
 */
export const openDataDirectory = async (directory: string): Promise<DataDirectory> => {
  const root = await madeAt(directory);
  const hash = createHash('sha256').update(root).digest('hex');
  const name = `\0rollcall-plane-${hash}`;
  const server = createServer((socket) => socket.end(String(process.pid)));
  try {
    server.listen(name);
    await once(server, 'listening');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw error;
    throw new DirectoryInUse(directory, await ownerOf(name));
  }
  const agent = join(root, 'agent');
  const agentRuntime = fitsSocketPath(join(agent, 'control.sock'))
    ? agent
    : join(tmpdir(), `rollcall-${hash.slice(0, 16)}`);
  return {
    root,
    postgres: join(root, 'postgres'),
    nats: join(root, 'nats'),
    ca: join(root, 'ca'),
    chainKey: join(root, 'chain.key'),
    webhookKey: join(root, 'webhook.key'),
    agent,
    agentRuntime,
    logs: join(root, 'logs'),
    release: async () => {
      if (agentRuntime !== agent) await rmdir(agentRuntime).catch(() => undefined);
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
};

const madeAt = async (directory: string): Promise<string> => {
  try {
    // Others may pass through, and list nothing: as root, PostgreSQL runs under an account of its own. What lies inside is owner-only.
    await mkdir(directory, { recursive: true, mode: 0o711 });
    return await realpath(directory);
  } catch (cause) {
    throw new Error(
      `Nothing can be kept in ${directory} (${(cause as Error).message}). Choose another directory: npm start -- --data DIR`,
      { cause },
    );
  }
};

const ownerOf = (name: string): Promise<string> =>
  new Promise((resolve) => {
    let pid = '';
    const socket = connect(name);
    socket.setTimeout(1_000, () => socket.destroy());
    socket.on('data', (chunk) => (pid += String(chunk)));
    socket.on('error', () => undefined);
    socket.on('close', () => resolve(pid || 'unknown'));
  });

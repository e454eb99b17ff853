import type { Duplex } from 'node:stream';
import ssh2, { type Client, type ConnectConfig } from 'ssh2';

/** One SSH connection on a stream that is ours: the stream is what ends it, because ssh2 asks a path that is dead for leave. */
export type Hop = {
  readonly client: Client;
  readonly sock: Duplex;
  /** Resolves when the client has closed; never rejects. */
  readonly closed: Promise<void>;
};

/** What ssh2 is told; the stream, the keepalive and the time are ours. */
export type HopOptions = Omit<
  ConnectConfig,
  'sock' | 'keepaliveInterval' | 'readyTimeout' | 'strictVendor' | 'host' | 'port'
>;

/**
 * Begins to speak SSH on a stream. `onEnd` is called in the turn of each sign that the hop has ended; a sign may come more than once.
 *
 * @returns the hop, and when the far side has let us in: it rejects with what kept it from that, and destroys nothing
 * @throws where ssh2 does not take the options; the stream is as it was
 */
export const openHop = (sock: Duplex, options: HopOptions, onEnd: () => void): { hop: Hop; ready: Promise<void> } => {
  const client = new ssh2.Client();
  const { promise: ready, resolve: letIn, reject } = Promise.withResolvers<void>();
  let failure: Error | undefined;
  // For life: an error without a listener would end the process, and there are late ones.
  client.on('error', (error) => {
    // An agent that does not sign is the end of nothing: the next key is tried.
    if ((error as { level?: string }).level === 'agent') return;
    failure ??= error;
    onEnd();
    reject(failure);
  });
  // On a path that died half way `end` is all that comes.
  client.on('end', onEnd);
  client.on('close', onEnd);
  const closed = new Promise<void>((resolve) => client.once('close', () => resolve()));
  const cutOff = () => reject(failure ?? new Error('The connection ended before it could be used'));
  client.once('ready', () => letIn());
  client.once('end', cutOff);
  client.once('close', cutOff);
  // Its own keepalive counts ticks instead of silence, and its time limit is another one than ours. Servers of another name than OpenSSH
  // forward to sockets as well; one that does not says so.
  client.connect({ ...options, sock, keepaliveInterval: 0, readyTimeout: 0, strictVendor: false });
  return { hop: { client, sock, closed }, ready };
};

import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { connect, type TLSSocket } from 'node:tls';

/** One machine as the load sees it: it goes on where it stopped, so that every check is one that the plane has to record. */
export type LoadMachine = {
  readonly credential: string;
  readonly boot: { readonly counter: number; readonly id: string };
  sequence: number;
  chain: string | null;
};

/** What to send where, and for how long. */
export type LoadOptions = {
  readonly port: number;
  readonly ca: string;
  /** One connection each. */
  readonly machines: readonly LoadMachine[];
  readonly seconds: number;
};

/** What came back. */
export type LoadResult = { readonly perSecond: number; readonly p50: number; readonly p99: number };

/**
 * Each machine checks over a connection of its own, again as soon as it is answered. Every answer is looked at.
 * @throws Error for an answer that is not 200.
 */
export const load = async ({ port, ca, machines, seconds }: LoadOptions): Promise<LoadResult> => {
  const sockets = await Promise.all(machines.map(() => open(port, ca)));
  const latencies: number[] = [];
  const from = performance.now();
  const until = from + seconds * 1_000;
  await Promise.all(
    sockets.map((socket, index) => checkUntil(socket, machines[index] as LoadMachine, until, latencies)),
  );
  const took = (performance.now() - from) / 1_000;
  latencies.sort((a, b) => a - b);
  const at = (share: number) => latencies[Math.floor(latencies.length * share)] ?? 0;
  return { perSecond: latencies.length / took, p50: at(0.5), p99: at(0.99) };
};

const open = async (port: number, ca: string): Promise<TLSSocket> => {
  const socket = connect({ host: '127.0.0.1', servername: 'localhost', port, ca, minVersion: 'TLSv1.3' });
  socket.setNoDelay();
  await once(socket, 'secureConnect');
  return socket;
};

/** HTTP/1.1 by hand: a client that costs more than the server would measure itself. */
const checkUntil = (socket: TLSSocket, machine: LoadMachine, until: number, latencies: number[]): Promise<void> =>
  new Promise((resolve, reject) => {
    let received = '';
    let sentAt = 0;
    const end = (error?: Error) => {
      socket.removeAllListeners('close');
      socket.destroy();
      if (error) reject(error);
      else resolve();
    };
    const send = () => {
      machine.sequence += 1;
      const { boot, sequence, chain } = machine;
      const body = JSON.stringify({ boot, sequence, checkId: randomUUID(), chain, said: 'running', blockers: [] });
      sentAt = performance.now();
      socket.write(
        `POST /v1/check HTTP/1.1\r\nhost: localhost:${socket.remotePort}\r\nauthorization: Bearer ${machine.credential}\r\n` +
          `content-type: application/json\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
      );
    };
    socket.setEncoding('utf8');
    socket.on('error', end);
    socket.on('close', () => end(new Error('The server closed the connection')));
    socket.on('data', (chunk: string) => {
      received += chunk;
      const head = received.indexOf('\r\n\r\n');
      if (head < 0) return;
      const length = Number(/^content-length: (\d+)/im.exec(received.slice(0, head))?.[1] ?? -1);
      if (length < 0) return end(new Error(`An answer without a length: ${received}`));
      if (Buffer.byteLength(received) < Buffer.byteLength(received.slice(0, head)) + 4 + length) return;
      if (!received.startsWith('HTTP/1.1 200')) return end(new Error(`Not 200: ${received}`));
      machine.chain = (JSON.parse(received.slice(head + 4)) as { readonly chain: string | null }).chain;
      received = '';
      latencies.push(performance.now() - sentAt);
      if (performance.now() < until) send();
      else end();
    });
    send();
  });

import autocannon from 'autocannon';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { connect as connectPlain, type Socket } from 'node:net';
import { connect as connectTls, type TLSSocket } from 'node:tls';

/** One machine as the load sees it: it goes on where it stopped, so that every check is one that the plane has to record. */
export type LoadMachine = {
  readonly credential: string;
  readonly boot: { readonly counter: number; readonly id: string };
  sequence: number;
  chain: string | null;
};

/** Where the load goes; `ca` is null for plain HTTP. */
export type Target = { readonly port: number; readonly ca: string | null };

/** What came back: answers a second, and milliseconds from the question (or from when it was due) to the answer. */
export type LoadResult = {
  readonly answers: number;
  readonly perSecond: number;
  readonly p50: number;
  readonly p99: number;
};

/** Sees each answer's body and when it came, by `performance.now()`. */
export type Witness = (answer: CheckAnswer, at: number) => void;
type CheckAnswer = { readonly chain: string | null; readonly serverTime?: string };

/**
 * Closed loop, by autocannon, so that figures can be compared with those of others: each machine checks over a connection of its own, again
 * as soon as it is answered, and says what a machine says, so that each of its checks has to be recorded.
 *
 * @throws Error for an answer that is not 200, and for a connection that broke.
 */
export const closedLoop = async (
  { port, ca }: Target,
  { machines, seconds }: { readonly machines: readonly LoadMachine[]; readonly seconds: number },
): Promise<LoadResult> => {
  let next = 0;
  const result = await autocannon({
    url: `${ca === null ? 'http' : 'https'}://127.0.0.1:${port}`,
    connections: machines.length,
    duration: seconds,
    setupClient: (client) => client.setRequests([checksOf(machines[next++] as LoadMachine)]),
  });
  const { non2xx, errors, timeouts, latency } = result;
  if (non2xx + errors + timeouts > 0)
    throw new Error(`${non2xx} answers were not 200, ${errors} connections broke, ${timeouts} requests had no answer`);
  const answers = result['2xx'];
  return { answers, perSecond: answers / result.duration, p50: latency.p50, p99: latency.p99 };
};

const checksOf = (machine: LoadMachine): autocannon.Request => ({
  method: 'POST',
  path: '/v1/check',
  headers: { authorization: `Bearer ${machine.credential}`, 'content-type': 'application/json' },
  setupRequest: (request) => ({ ...request, body: nextBody(machine) }),
  onResponse: (_status, body) => {
    machine.chain = (JSON.parse(body) as CheckAnswer).chain;
  },
});

/** What a machine says in its next check. */
const nextBody = (machine: LoadMachine): string => {
  machine.sequence += 1;
  const { boot, sequence, chain } = machine;
  return JSON.stringify({ boot, sequence, checkId: randomUUID(), chain, said: 'running', blockers: [] });
};

/**
 * Open loop: checks become due at a rate, whether or not the server keeps up, each from the machine whose turn it is. A latency counts from
 * when the check was due.
 */
export const openLoop = async (
  target: Target,
  {
    machines,
    seconds,
    perSecond,
    witness,
  }: {
    readonly machines: readonly LoadMachine[];
    readonly seconds: number;
    readonly perSecond: number;
    readonly witness?: Witness;
  },
): Promise<LoadResult> => {
  const connections = await Promise.all(machines.map(() => Connection.open(target)));
  // A machine has one check under way at a time; its next waits for the answer.
  const turns = connections.map(() => Promise.resolve());
  const latencies: number[] = [];
  const from = performance.now();
  const total = Math.round(seconds * perSecond);
  for (let sent = 0; sent < total;) {
    const dueCount = Math.min(total, Math.floor(((performance.now() - from) / 1_000) * perSecond));
    for (; sent < dueCount; sent += 1) {
      const due = from + (sent / perSecond) * 1_000;
      const index = sent % machines.length;
      turns[index] = (turns[index] as Promise<void>).then(async () => {
        const answer = await (connections[index] as Connection).check(machines[index] as LoadMachine);
        const at = performance.now();
        latencies.push(at - due);
        witness?.(answer, at);
      });
    }
    await new Promise((resume) => setTimeout(resume, 1));
  }
  await Promise.all(turns);
  for (const connection of connections) connection.end();
  return summary(latencies, from);
};

/** A new TLS connection for each check, resumed from the machine's last one. */
export const newConnections = async (
  target: Target & { readonly ca: string },
  { machines, seconds }: { readonly machines: readonly LoadMachine[]; readonly seconds: number },
): Promise<LoadResult & { readonly resumedShare: number }> => {
  const latencies: number[] = [];
  const from = performance.now();
  const until = from + seconds * 1_000;
  let resumed = 0;
  await Promise.all(
    machines.map(async (machine) => {
      let session: Buffer | undefined;
      for (let asked = from; asked < until;) {
        asked = performance.now();
        const connection = await Connection.open(target, session);
        await connection.check(machine);
        latencies.push(performance.now() - asked);
        if (connection.resumed) resumed += 1;
        session = connection.session ?? session;
        connection.end();
      }
    }),
  );
  return { ...summary(latencies, from), resumedShare: resumed / latencies.length };
};

const summary = (latencies: number[], from: number): LoadResult => {
  const took = (performance.now() - from) / 1_000;
  latencies.sort((a, b) => a - b);
  return {
    answers: latencies.length,
    perSecond: latencies.length / took,
    p50: at(latencies, 0.5),
    p99: at(latencies, 0.99),
  };
};

/** The value below which a share of sorted values lies; 0 of none. */
export const at = (sorted: readonly number[], share: number): number => sorted[Math.floor(sorted.length * share)] ?? 0;

/** HTTP/1.1 by hand: a client that costs more than the server would measure itself. */
class Connection {
  private received = '';
  private waiting: { resolve(answer: CheckAnswer): void; reject(error: Error): void } | null = null;

  private constructor(
    private readonly socket: Socket,
    private readonly tickets: readonly Buffer[] = [],
  ) {
    socket.setNoDelay();
    socket.setEncoding('utf8');
    socket.on('error', (error) => this.fail(error));
    socket.on('close', () => this.fail(new Error('The server closed the connection')));
    socket.on('data', (chunk: string) => this.take(chunk));
  }

  static async open({ port, ca }: Target, session?: Buffer): Promise<Connection> {
    if (ca === null) {
      const socket = connectPlain({ host: '127.0.0.1', port });
      await once(socket, 'connect');
      return new Connection(socket);
    }
    const socket = connectTls({
      host: '127.0.0.1',
      servername: 'localhost',
      port,
      ca,
      minVersion: 'TLSv1.3',
      ...(session ? { session } : {}),
    });
    // Tickets may come with the end of the handshake: whoever listens later has missed them.
    const tickets: Buffer[] = [];
    socket.on('session', (ticket: Buffer) => tickets.push(ticket));
    await once(socket, 'secureConnect');
    return new Connection(socket, tickets);
  }

  /** The newest session ticket. */
  get session(): Buffer | undefined {
    return this.tickets.at(-1);
  }

  get resumed(): boolean {
    return (this.socket as TLSSocket).isSessionReused();
  }

  /** @throws Error for anything but 200, and where the connection breaks. */
  async check(machine: LoadMachine): Promise<CheckAnswer> {
    const body = nextBody(machine);
    const answered = new Promise<CheckAnswer>((resolve, reject) => (this.waiting = { resolve, reject }));
    this.socket.write(
      `POST /v1/check HTTP/1.1\r\nhost: localhost:${this.socket.remotePort}\r\nauthorization: Bearer ${machine.credential}\r\n` +
        `content-type: application/json\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
    );
    const answer = await answered;
    machine.chain = answer.chain;
    return answer;
  }

  end(): void {
    this.socket.removeAllListeners('close');
    this.socket.destroy();
  }

  private take(chunk: string): void {
    this.received += chunk;
    const head = this.received.indexOf('\r\n\r\n');
    if (head < 0) return;
    const length = Number(/^content-length: (\d+)/im.exec(this.received.slice(0, head))?.[1] ?? -1);
    if (length < 0) return this.fail(new Error(`An answer without a length: ${this.received}`));
    if (Buffer.byteLength(this.received) < Buffer.byteLength(this.received.slice(0, head)) + 4 + length) return;
    if (!this.received.startsWith('HTTP/1.1 200')) return this.fail(new Error(`Not 200: ${this.received}`));
    const answer = JSON.parse(this.received.slice(head + 4)) as CheckAnswer;
    this.received = '';
    const { waiting } = this;
    this.waiting = null;
    waiting?.resolve(answer);
  }

  private fail(error: Error): void {
    this.waiting?.reject(error);
    this.waiting = null;
    this.socket.destroy();
  }
}

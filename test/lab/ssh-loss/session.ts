// Runs alone in a network namespace (`ssh-loss.lab.spec.ts`): a session with the times of production, over a real SSH server and a path whose
// packets the kernel drops. Prints one JSON line.
import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import {
  FarSide,
  MetadataFiles,
  openSessionHost,
  SessionLog,
  type NearAddress,
  type SessionHost,
  type TransportLoss,
} from '@rollcall/ssh-session';
import { eventually } from '../../support/processes.js';
import { destinationTo, FarSocket, OperatorSide } from '../../support/ssh-dialing.js';
import { LOGGED, startSshd, type TestSshd } from '../../support/sshd.js';
import { TcpProxy } from '../../support/tcp-proxy.js';

/** Packets to and from a port of the loopback, dropped without a word. */
const drop = (port: number, ...share: string[]): void => {
  for (const side of ['--dport', '--sport'])
    execFileSync('iptables', ['-I', 'INPUT', '-i', 'lo', '-p', 'tcp', side, String(port), ...share, '-j', 'DROP']);
};

class Losses extends SessionLog {
  readonly all: TransportLoss[] = [];

  override warn(_sentence: string, loss: TransportLoss): void {
    this.all.push(loss);
  }

  override debug(): void {}
}

class Commands extends FarSide {
  override async cleanUp(): Promise<void> {
    throw new Error('No stop here has a transport that answers');
  }

  override stopFarSide(): Promise<void> {
    return this.cleanUp();
  }

  override checkPlane(): Promise<void> {
    return this.cleanUp();
  }
}

const hostTo = (sshd: TestSshd, port: number, side: OperatorSide, log: SessionLog): SessionHost =>
  openSessionHost({
    dial: (_target, { signal }) => side.dial(destinationTo(sshd, { port }), signal),
    farSide: new Commands(),
    metadata: new MetadataFiles(join(side.directory, 'sessions')),
    log,
  });

const reach = (address: NearAddress): Socket =>
  address.kind === 'tcp' ? connect({ port: address.port, host: address.host }) : connect(address.path);

const endOf = (socket: Socket): Promise<string> =>
  new Promise((resolve) => {
    socket.once('error', ({ code }: NodeJS.ErrnoException) => resolve(code ?? 'error'));
    socket.once('close', () => resolve('closed'));
  });

/** C28 in real time: the path dies one second after an answer. Two sessions, one of which is stopped while it is unresponsive. */
const zombie = async (sshd: TestSshd, side: OperatorSide, far: FarSocket) => {
  const log = new Losses();
  const host = hostTo(sshd, sshd.port, side, log);
  const launch = (id: string) =>
    host.launch({ id, target: { host: 'test-host' }, near: { kind: 'tcp' }, farSocketPath: far.path });
  const [session] = [await launch('one'), await launch('two')];
  const near = reach(session.address);
  near.write('hello');
  await once(near, 'data');
  const cut = endOf(near);
  await eventually(
    'both have answered',
    async () => ['one', 'two'].every((id) => host.status(id)?.roundTrip !== null),
    30_000,
  );
  const answeredAt = performance.now() - (host.status('one')?.silence ?? 0);
  drop(sshd.port);
  const commandsBefore = sshd.count(LOGGED.command);

  await eventually('the second is unresponsive', async () => host.status('two')?.state === 'unresponsive', 60_000);
  const stopAt = performance.now();
  const stopped = await host.stop('two');
  const stopTook = performance.now() - stopAt;

  await once(session.lost, 'abort');
  const lostAfter = performance.now() - answeredAt;
  const cutBy = await cut;
  const refusedBy = await endOf(reach(session.address));
  await eventually('the loss is told', async () => log.all.length > 0);
  const status = host.status('one')?.state;
  await host.close();
  return {
    lostAfter,
    cutBy,
    refusedBy,
    stopped,
    stopTook,
    status,
    losses: log.all,
    commands: sshd.count(LOGGED.command) - commandsBefore,
  };
};

/** C29 in real time: a lossy, slow and narrow path that transfers fill in both directions. */
const busy = async (sshd: TestSshd, side: OperatorSide, far: FarSocket, seconds: number) => {
  // Buffers as systems have them on such a path, and not those of a loopback.
  for (const name of ['tcp_rmem', 'tcp_wmem']) writeFileSync(`/proc/sys/net/ipv4/${name}`, '4096 65536 131072');
  const proxy = await TcpProxy.listen({ host: '127.0.0.1', port: sshd.port });
  proxy.narrow({ roundTripMs: 350, bytesPerSecond: 125_000 });
  drop(proxy.port, '-m', 'statistic', '--mode', 'random', '--probability', '0.125');
  const log = new Losses();
  const host = hostTo(sshd, proxy.port, side, log);
  const session = await host.launch({
    id: 'one',
    target: { host: 'test-host' },
    near: { kind: 'tcp' },
    farSocketPath: far.path,
  });
  let carried = 0;
  const transfers = Array.from({ length: 4 }, () => {
    const near = reach(session.address);
    near.on('error', () => {});
    near.on('data', (chunk) => (carried += chunk.length));
    const pour = () => {
      while (!near.destroyed && near.write(Buffer.alloc(65_536)));
    };
    near.on('drain', pour);
    pour();
    return near;
  });
  const roundTrips = new Set<number>();
  const over = performance.now() + seconds * 1_000;
  await eventually(
    'the time is over',
    async () => {
      const { roundTrip = null } = host.status('one') ?? {};
      if (roundTrip !== null) roundTrips.add(roundTrip);
      return session.lost.aborted || performance.now() > over;
    },
    seconds * 1_000 + 60_000,
  );
  const status = host.status('one')?.state;
  for (const near of transfers) near.destroy();
  await host.close();
  await proxy[Symbol.asyncDispose]();
  return { losses: log.all, status, carried, slowest: Math.max(...roundTrips), answers: roundTrips.size };
};

const [, , story = '', seconds = '600'] = process.argv;
const sshd = await startSshd();
const side = await OperatorSide.make();
const far = await FarSocket.listen(join(sshd.directory, 'far'));
const result = story === 'zombie' ? await zombie(sshd, side, far) : await busy(sshd, side, far, Number(seconds));
execFileSync('iptables', ['-F', 'INPUT']);
await side[Symbol.asyncDispose]();
await far[Symbol.asyncDispose]();
// They were told of nothing, and would wait for us.
for (const pid of sshd.sessions()) process.kill(pid);
await sshd.close();
process.stdout.write(`${JSON.stringify(result)}\n`);

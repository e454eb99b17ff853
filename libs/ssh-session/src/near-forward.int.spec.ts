import { once } from 'node:events';
import { lstat, mkdir, rename, writeFile } from 'node:fs/promises';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { dirname, join } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import type { Writable } from 'node:stream';
import { setTimeout as passes } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { eventually, openHandles } from '../../../test/support/processes.js';
import { destinationTo, FarSocket, OperatorSide } from '../../../test/support/ssh-dialing.js';
import { LOGGED, startSshd, type TestSshd } from '../../../test/support/sshd.js';
import { TcpProxy } from '../../../test/support/tcp-proxy.js';
import ssh2 from 'ssh2';
import { openHop } from './hop.js';
import type { SocketForward } from './near-forward.js';
import {
  FarSocketRefused,
  NearEndUnusable,
  type Link,
  type NearAddress,
  type NearEnd,
  type NearForward,
} from './index.js';
import { Hops, SshLink } from './ssh-link.js';

let leaked: ReturnType<typeof openHandles>;
let sshd: TestSshd;
let far: FarSocket;

beforeAll(async () => {
  leaked = openHandles();
  sshd = await startSshd();
  far = await FarSocket.listen(join(sshd.directory, 'far'));
});
afterAll(async () => {
  await far[Symbol.asyncDispose]();
  await sshd.close();
  expect(await leaked()).toEqual([]);
});

const forwards: NearForward[] = [];
afterEach(() => Promise.all(forwards.splice(0).map((forward) => forward.close())));

/** A forward that is closed when its test has ended: a link leaves that to whoever has asked for it. */
const forwardOf = async (link: Link, near: NearEnd, farSocketPath: string): Promise<NearForward> => {
  const forward = await link.forward(near, farSocketPath);
  forwards.push(forward);
  return forward;
};

const reach = (address: NearAddress): Socket =>
  address.kind === 'tcp' ? connect(address.port, address.host) : connect(address.path);

/** Resolves when what is written goes no further: every buffer on the way is full. */
const stuck = (...sockets: readonly Socket[]): Promise<void> =>
  eventually('what is written is stuck', async () => {
    const before = sockets.map(({ writableLength }) => writableLength).join();
    await passes(200);
    return before === sockets.map(({ writableLength }) => writableLength).join();
  });

/** What becomes of an attempt to connect: `connected`, or the system's word for no. */
const attempt = (address: NearAddress): Promise<string> =>
  new Promise((resolve) => {
    const socket = reach(address);
    socket.once('connect', () => {
      socket.destroy();
      resolve('connected');
    });
    socket.once('error', ({ code }: NodeJS.ErrnoException) => resolve(code ?? ''));
  });

/** How an end ended: the error's code, or `clean`. */
const endOf = (socket: Socket): Promise<string> =>
  new Promise((resolve) => {
    socket.once('error', ({ code }: NodeJS.ErrnoException) => resolve(code ?? ''));
    socket.once('close', () => resolve('clean'));
  });

/** How many bytes of buffers this process holds on to. */
const bytesHeld = (): number => {
  setFlagsFromString('--expose-gc');
  (runInNewContext('gc') as () => void)();
  return process.memoryUsage().arrayBuffers;
};

describe('a near end', () => {
  it.each(['tcp', 'unix'] as const)(
    'refuses from the close on and cuts what it had accepted, once for all who ask, while the link lives (%s, T-1.6)',
    async (kind) => {
      await using side = await OperatorSide.make();
      const link = await side.dial(destinationTo(sshd));
      const near = kind === 'tcp' ? { kind } : { kind, path: join(side.directory, 'near', 's') };
      const forward = await forwardOf(link, near, far.path);
      const socket = reach(forward.address);
      socket.write('x');
      await once(socket, 'data');
      const ended = endOf(socket);
      const closed = Promise.all([forward.close(), forward.close()]);
      expect(await attempt(forward.address)).toBe(kind === 'tcp' ? 'ECONNREFUSED' : 'ENOENT');
      await closed;
      expect(await ended).toBe(kind === 'tcp' ? 'ECONNRESET' : 'clean');
      expect((await link.exec('true')).code).toBe(0);
    },
  );

  it('that is a UNIX socket lets nobody else in, neither to it nor to its directory (O15)', async () => {
    await using side = await OperatorSide.make();
    const link = await side.dial(destinationTo(sshd));
    const path = join(side.directory, 'near', 's');
    await forwardOf(link, { kind: 'unix', path }, far.path);
    expect(((await lstat(path)).mode & 0o777).toString(8)).toBe('600');
    expect(((await lstat(dirname(path))).mode & 0o777).toString(8)).toBe('700');
  });

  it('takes the place of a socket that nobody listens at, and of nothing else', async () => {
    await using side = await OperatorSide.make();
    const link = await side.dial(destinationTo(sshd));
    const directory = join(side.directory, 'near');
    await mkdir(directory);
    const path = join(directory, 's');
    const living = createServer().listen(path);
    await once(living, 'listening');
    await expect(forwardOf(link, { kind: 'unix', path }, far.path)).rejects.toThrow(NearEndUnusable);

    // Moved away it is not removed by the end of its server, as that of a process that was killed.
    const stale = join(directory, 'stale');
    await rename(path, stale);
    living.close();
    await once(living, 'close');
    const forward = await forwardOf(link, { kind: 'unix', path: stale }, far.path);
    expect(await attempt(forward.address)).toBe('connected');

    await writeFile(path, 'not ours');
    await expect(forwardOf(link, { kind: 'unix', path }, far.path)).rejects.toThrow('is no socket');
    const long = join(directory, 'x'.repeat(108));
    await expect(forwardOf(link, { kind: 'unix', path: long }, far.path)).rejects.toThrow('107');
  });

  it('goes on where a connection could not be taken, and tells why', async () => {
    await using side = await OperatorSide.make();
    const link = await side.dial(destinationTo(sshd));
    const forward = (await forwardOf(link, { kind: 'tcp' }, far.path)) as SocketForward;
    // As where the process has no file descriptor left.
    forward['server'].emit('error', new Error('accept EMFILE'));
    expect(side.refused).toEqual([new Error('accept EMFILE')]);
    expect(await attempt(forward.address)).toBe('connected');
  });

  it('leads to the far socket also where the SSH server is another than OpenSSH', async () => {
    const server = new ssh2.Server({ hostKeys: [sshd.hostKeys.ed25519.private], ident: 'Another_1.0' }, (client) => {
      client.on('error', () => {});
      client.on('authentication', (context) => context.accept());
      client.on('openssh.streamlocal', (accept) => {
        const channel = accept();
        channel.pipe(channel);
      });
    });
    await once(server.listen(0, '127.0.0.1'), 'listening');
    const { link } = await bareLink((server.address() as AddressInfo).port);
    const socket = reach((await forwardOf(link, { kind: 'tcp' }, '/far.sock')).address);
    socket.write('x');
    expect(String((await once(socket, 'data'))[0])).toBe('x');
    socket.destroy();
    await link.close();
    server.close();
    await once(server, 'close');
  });

  it('is cut where the far side does not reach the socket, and what is told names both reasons that it can have', async () => {
    await using side = await OperatorSide.make();
    const link = await side.dial(destinationTo(sshd));
    const forward = await forwardOf(link, { kind: 'tcp' }, join(sshd.directory, 'nobody'));
    expect(await endOf(reach(forward.address))).toBe('ECONNRESET');
    expect(side.refused).toEqual([expect.any(FarSocketRefused)]);
    expect(side.refused[0]?.message).toMatch(/nobody listens there, or its SSH server forbids/);
  });

  it('ends what the far agent ends, after all that it said, and closes at the far side what is reset here', async () => {
    await using side = await OperatorSide.make();
    await using shortSpoken = await FarSocket.listen(join(sshd.directory, 'short'), (socket) => void socket.end('bye'));
    const link = await side.dial(destinationTo(sshd));
    const forward = await forwardOf(link, { kind: 'tcp' }, shortSpoken.path);
    const socket = reach(forward.address);
    const [said] = (await once(socket, 'data')) as [Buffer];
    expect(said.toString()).toBe('bye');
    expect(await endOf(socket)).toBe('clean');

    const echo = await forwardOf(link, { kind: 'tcp' }, far.path);
    const before = far.accepted.length;
    const other = reach(echo.address);
    other.write('x');
    await once(other, 'data');
    other.resetAndDestroy();
    await eventually('the far side has noticed', () => Promise.resolve(far.accepted[before]?.destroyed === true));
  });
});

describe('a probe', () => {
  it.each(['DisableForwarding yes', 'AllowTcpForwarding no', 'PermitListen none'])(
    'is answered also where the server says %s, and opens nothing there (T-1.2)',
    async (setting) => {
      const strict = await startSshd([setting]);
      try {
        await using side = await OperatorSide.make();
        const link = await side.dial(destinationTo(strict));
        await link.probe();
        await link.probe();
        await strict.logged(LOGGED.probe, 2);
        expect(strict.count(LOGGED.command)).toBe(0);
      } finally {
        await strict.close();
      }
    },
  );
});

/** A link whose client and socket a test can look into. */
const bareLink = async (port: number) => {
  const socket = connect(port, '127.0.0.1');
  await once(socket, 'connect');
  const hops = new Hops();
  const options = { username: sshd.user, privateKey: sshd.key.private, hostVerifier: () => true };
  const { hop, ready } = openHop(socket, options, hops.ended);
  hops.add(hop);
  await ready;
  return { link: new SshLink('127.0.0.1', hops, socket), hop, socket };
};

describe('a link whose far side has ended', () => {
  it('is over at once, also where what we send is stuck and the client never closes by itself (T-1.4)', async () => {
    await using proxy = await TcpProxy.listen({ host: '127.0.0.1', port: sshd.port });
    const { link, hop, socket } = await bareLink(proxy.port);
    let isClosed = false;
    void hop.closed.then(() => (isClosed = true));
    const channels = await Promise.all(
      Array.from(
        { length: 8 },
        () =>
          new Promise<Writable>((resolve, reject) =>
            hop.client.exec('cat > /dev/null', (error, channel) => (error ? reject(error) : resolve(channel))),
          ),
      ),
    );
    proxy.hold();
    for (const channel of channels) channel.write(Buffer.alloc(2_000_000));
    await eventually('what we send is stuck', () => Promise.resolve(socket.writableLength > 100_000));
    const ended = new Promise<void>((resolve) => link.onEnd(resolve));
    proxy.endAnswers();
    await ended;
    expect(isClosed).toBe(false);
    await link.close();
    expect(isClosed).toBe(true);
  });
});

describe('uploads', () => {
  it('leave nothing of what they have sent in the memory of this process (C29)', async () => {
    let arrived = 0;
    await using sink = await FarSocket.listen(
      join(sshd.directory, 'sink'),
      (socket) => void socket.on('data', (chunk: Buffer) => (arrived += chunk.length)),
    );
    await using side = await OperatorSide.make();
    const link = await side.dial(destinationTo(sshd));
    const forward = await forwardOf(link, { kind: 'tcp' }, sink.path);
    const upload = reach(forward.address);
    const before = bytesHeld();
    upload.write(Buffer.alloc(6_000_000));
    await eventually('all of it has arrived', () => Promise.resolve(arrived === 6_000_000));
    // As much as may be on its way at any time, and far from all; what has just been let go of may take a turn.
    await eventually('it is let go of', () => Promise.resolve(bytesHeld() - before < 3_000_000), 5_000);
    expect(upload.destroyed).toBe(false);
    upload.destroy();
  });

  it('of several near ends keep no more than 256 KiB waiting in this process, so that a probe does not wait behind them (C29)', async () => {
    await using proxy = await TcpProxy.listen({ host: '127.0.0.1', port: sshd.port });
    const { link, socket } = await bareLink(proxy.port);
    const forward = await forwardOf(link, { kind: 'tcp' }, far.path);
    const uploads = Array.from({ length: 4 }, () => reach(forward.address));
    for (const upload of uploads) {
      upload.write('x');
      await once(upload, 'data');
    }
    proxy.hold();
    let most = 0;
    const watch = setInterval(() => (most = Math.max(most, socket.writableLength)), 1);
    for (const upload of uploads) {
      upload.on('error', () => {});
      // It goes as far as there is room; beyond that, its own socket fills.
      upload.write(Buffer.alloc(16_000_000));
    }
    // So much is in nobody's buffers but ours: the kernel's are full.
    await eventually('the queue is full', () => Promise.resolve(socket.writableLength > 200_000));
    await stuck(...uploads);
    clearInterval(watch);
    // One chunk more than the limit, and what encryption adds to it.
    expect(most).toBeLessThan(262_144 + 70_000);
    for (const upload of uploads) upload.destroy();
    await link.close();
  });
});

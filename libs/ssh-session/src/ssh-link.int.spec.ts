import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { eventually, openHandles } from '../../../test/support/processes.js';
import { destinationTo, FarSocket, OperatorSide } from '../../../test/support/ssh-dialing.js';
import { LOGGED, startSshd, type TestSshd } from '../../../test/support/sshd.js';
import { TcpProxy } from '../../../test/support/tcp-proxy.js';
import type { NearAddress } from './index.js';

let leaked: ReturnType<typeof openHandles>;
let sshd: TestSshd;
let bastion: TestSshd;
let far: FarSocket;

beforeAll(async () => {
  leaked = openHandles();
  [sshd, bastion] = await Promise.all([startSshd(), startSshd()]);
  far = await FarSocket.listen(join(sshd.directory, 'far'));
});
afterAll(async () => {
  await far[Symbol.asyncDispose]();
  await Promise.all([sshd.close(), bastion.close()]);
  expect(await leaked()).toEqual([]);
});

/** How a promise ended, looked at without waiting for it. */
const watched = (promise: Promise<unknown>) => {
  const seen: { state: 'waiting' | 'resolved' | 'rejected' } = { state: 'waiting' };
  promise.then(
    () => (seen.state = 'resolved'),
    () => (seen.state = 'rejected'),
  );
  return seen;
};

const reach = (address: NearAddress): Socket => {
  const socket =
    address.kind === 'tcp'
      ? connect({ port: address.port, host: address.host, allowHalfOpen: true })
      : connect({ path: address.path, allowHalfOpen: true });
  return socket;
};

const said = async (socket: Socket): Promise<string> => {
  let text = '';
  for await (const chunk of socket.iterator({ destroyOnReturn: false })) text += String(chunk);
  return text;
};

/** The ways there: straight, and through a bastion. */
const ways = [
  ['straight', (port?: number) => destinationTo(sshd, port === undefined ? {} : { port })],
  [
    'through a bastion',
    (port?: number) =>
      destinationTo(sshd, {
        bastion: destinationTo(bastion, { ...(port === undefined ? {} : { port }), pinName: 'bastion' }),
      }),
  ],
] as const;

describe.each(ways)('a link %s', (_way, destination) => {
  const first = _way === 'straight' ? () => sshd : () => bastion;

  it('runs a command and says how it ended', async () => {
    await using side = await OperatorSide.make();
    const link = await side.dial(destination());
    expect(await link.exec('echo out; echo err >&2; exit 3')).toEqual({
      code: 3,
      signal: null,
      stdout: 'out\n',
      stderr: 'err\n',
    });
    // Nobody will say anything to it.
    expect(await link.exec('cat')).toMatchObject({ code: 0, stdout: '' });
    expect(await link.exec('kill -9 $$')).toMatchObject({ code: null, signal: 'SIGKILL' });
    expect(link.remoteHost).toBe('127.0.0.1');
  });

  it('reads a command to its end however much it says, and keeps the beginning', async () => {
    await using side = await OperatorSide.make();
    const link = await side.dial(destination());
    const { code, stdout } = await link.exec('head -c 2500000 /dev/zero; echo done >&2');
    expect([code, stdout.length]).toEqual([0, 1_048_576]);
  });

  it.each(['tcp', 'unix'] as const)('carries both ways from a %s near end, each of them to its end', async (kind) => {
    await using side = await OperatorSide.make();
    const link = await side.dial(destination());
    const forward = await link.forward(
      kind === 'tcp' ? { kind } : { kind, path: join(side.directory, 'near', 's') },
      far.path,
    );
    const near = reach(forward.address);
    const heard = said(near);
    const text = 'x'.repeat(1_000_000);
    near.end(text);
    expect((await heard) === text).toBe(true);
    near.destroy();
    await forward.close();
  });

  it('waits for ever on a path that is dead, and frees everything when it is closed (T-1.8)', async () => {
    const left = openHandles();
    await using proxy = await TcpProxy.listen({ host: '127.0.0.1', port: first().port });
    await using side = await OperatorSide.make();
    const link = await side.dial(destination(proxy.port));
    const forward = await link.forward({ kind: 'tcp' }, far.path);
    const near = reach(forward.address);
    near.write('before');
    await once(near, 'data');
    const running = watched(link.exec('sleep 100'));
    await eventually('the command runs', async () => (await link.exec('pgrep -x sleep || true')).stdout !== '');
    proxy.hold();
    const opening = watched(link.exec('true'));
    const probing = watched(link.probe());
    const ends: string[] = [];
    link.onEnd(() => ends.push('ended'));
    // What comes to pass at all does so in the time of a round trip over loopback, many times over.
    await expect(
      eventually('something ends', async () => ends.length > 0 || running.state !== 'waiting', 300),
    ).rejects.toThrow('not within 300 ms');
    expect([running.state, opening.state, probing.state, link.ended]).toEqual(['waiting', 'waiting', 'waiting', false]);

    const failed = new Promise<string>((resolve) =>
      near.once('error', ({ code }: NodeJS.ErrnoException) => resolve(code ?? '')),
    );
    await Promise.all([link.close(), link.close()]);
    expect([running.state, opening.state, probing.state, link.ended]).toEqual([
      'rejected',
      'rejected',
      'rejected',
      true,
    ]);
    expect(ends).toEqual(['ended']);
    expect(await failed).toBe('ECONNRESET');
    await forward.close();
    await proxy[Symbol.asyncDispose]();
    expect(await left()).toEqual([]);
  });

  it('ends on both ends at once when the path is sound (T-1.8)', async () => {
    await using side = await OperatorSide.make();
    const before = first().count(LOGGED.end);
    const link = await side.dial(destination());
    await link.exec('true');
    await link.close();
    // The question at first contact was a connection as well.
    await first().logged(LOGGED.end, before + 2);
    await expect(link.exec('true')).rejects.toThrow('ended');
    await expect(link.probe()).rejects.toThrow('ended');
    await expect(link.forward({ kind: 'tcp' }, far.path)).rejects.toThrow('ended');
  });
});

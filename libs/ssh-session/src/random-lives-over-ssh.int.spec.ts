import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { setTimeout as passes } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { eventually, openHandles } from '../../../test/support/processes.js';
import { destinationTo, FarSocket, OperatorSide } from '../../../test/support/ssh-dialing.js';
import { startSshd, type TestSshd } from '../../../test/support/sshd.js';
import { TcpProxy } from '../../../test/support/tcp-proxy.js';
import type { Dial, Link, NearAddress, NearForward, SessionHost } from './index.js';
import { MemoryMetadata, OneCommandFarSide, openPacedSessionHost, RecordedLog, type Pace } from './testing/index.js';

/** Put here the seed that a failed run prints, and the number of its life, to run that one alone. */
const REPLAY: { readonly seed?: number; readonly life?: number } = {};
const LIVES = 25;
/** As many at a time as a small machine bears. */
const LANES = 5;

/** So short that a busy machine loses sound paths as well, which is one more thing that can happen. */
const HURRIED: Pace = { timing: { interval: 40, deadline: 250 }, commandLimit: 200 };

let leaked: ReturnType<typeof openHandles>;
let sshd: TestSshd;
let bastion: TestSshd;
let far: FarSocket;
let side: OperatorSide;

beforeAll(async () => {
  leaked = openHandles();
  [sshd, bastion, side] = await Promise.all([startSshd(), startSshd(), OperatorSide.make()]);
  far = await FarSocket.listen(join(sshd.directory, 'far'));
  // Both are known before anything happens at once.
  await side.dial(destinationTo(sshd));
  await side.dial(behind(bastion.port));
});
afterAll(async () => {
  await side[Symbol.asyncDispose]();
  await far[Symbol.asyncDispose]();
  await Promise.all([sshd.close(), bastion.close()]);
  expect(await leaked()).toEqual([]);
});

const behind = (port: number) => destinationTo(sshd, { bastion: destinationTo(bastion, { port, pinName: 'bastion' }) });

const DEEDS = [
  'launch',
  'resume',
  'stop',
  'reset',
  'upload',
  'hold',
  'heal',
  'narrow',
  'resetPath',
  'passTime',
] as const;
type Deed = (typeof DEEDS)[number];

const LIFE = fc.record({
  isBehindBastion: fc.boolean(),
  steps: fc.array(fc.record({ deed: fc.constantFrom<Deed>(...DEEDS), ms: fc.nat(120), isAwaited: fc.boolean() }), {
    minLength: 4,
    maxLength: 10,
  }),
});
type Life = typeof LIFE extends fc.Arbitrary<infer Value> ? Value : never;

/** How often what was opened has been closed. */
type Closes = { readonly what: string; times: number };

/** One session host, its paths and whoever uses it. */
class World {
  readonly log = new RecordedLog();
  readonly closes: Closes[] = [];
  readonly links: Link[] = [];
  readonly near: Socket[] = [];
  readonly #host: SessionHost;

  constructor(
    private readonly proxy: TcpProxy,
    private readonly isBehindBastion: boolean,
  ) {
    const farSide = new OneCommandFarSide();
    this.#host = openPacedSessionHost(
      { dial: this.#dial, farSide, metadata: new MemoryMetadata(), log: this.log },
      HURRIED,
    );
  }

  readonly deeds: Record<Deed, (ms: number) => Promise<unknown>> = {
    launch: () =>
      this.#host.launch({ id: 'one', target: { host: 'test-host' }, near: { kind: 'tcp' }, farSocketPath: far.path }),
    resume: () => this.#host.resume('one'),
    stop: () => this.#host.stop('one'),
    reset: () => this.#host.reset('one'),
    upload: async (ms) => this.#upload(ms),
    hold: async () => this.proxy.hold(),
    heal: async () => this.proxy.heal(),
    narrow: async (ms) => this.proxy.narrow({ roundTripMs: ms, bytesPerSecond: 500_000 }),
    resetPath: async () => this.proxy.reset(),
    // Time is one of the things that happen; nothing is expected of how much.
    passTime: (ms) => passes(ms),
  };

  async live({ steps }: Life): Promise<void> {
    // It may be lost before anybody has it.
    await this.deeds.launch(0).catch(() => undefined);
    const doings: Promise<unknown>[] = [];
    for (const { deed, ms, isAwaited } of steps) {
      const doing = this.deeds[deed](ms).catch(() => undefined);
      doings.push(doing);
      // A dial over a held path ends with the host; nobody waits for it here.
      if (isAwaited) await Promise.race([doing, passes(400)]);
    }
    await this.#host.close();
    await Promise.all(doings);
    await eventually('every near end has ended', () => Promise.resolve(this.near.every(({ closed }) => closed)));
    expect(this.closes.map(({ what, times }) => `${what} ${times}`)).toEqual(
      this.closes.map(({ what }) => `${what} 1`),
    );
    expect(this.links.every(({ ended }) => ended)).toBe(true);
    const lost = this.log.losses.map(({ remoteHost }) => remoteHost);
    expect(lost).toEqual([...new Set(lost)]);
    expect(this.log.losses.map(({ failedCloses }) => failedCloses)).toEqual(this.log.losses.map(() => ({})));
  }

  #upload(ms: number): void {
    const address: NearAddress | undefined = this.#host.status('one')?.address;
    if (address?.kind !== 'tcp') return;
    const socket = connect(address.port, address.host);
    this.near.push(socket);
    socket.on('error', () => {});
    socket.resume().write(Buffer.alloc(ms * 2_000));
  }

  readonly #dial: Dial = async (_target, { signal }) => {
    const { port } = this.proxy;
    const link = await side.dial(this.isBehindBastion ? behind(port) : destinationTo(sshd, { port }), signal);
    this.links.push(link);
    // So that a loss says which of them it is about.
    Object.defineProperty(link, 'remoteHost', { value: `link ${this.links.length}` });
    this.#count('link', link);
    const forward = link.forward.bind(link);
    link.forward = async (...words) => {
      const opened = await forward(...words);
      this.#count('forward', opened);
      return opened;
    };
    return link;
  };

  #count(what: string, opened: Link | NearForward): void {
    const counted = { what, times: 0 };
    this.closes.push(counted);
    const close = opened.close.bind(opened);
    opened.close = () => {
      counted.times += 1;
      return close();
    };
  }
}

/** @param links where those that were dialled are put */
const live = async (life: Life, links: Link[]): Promise<void> => {
  const first = life.isBehindBastion ? bastion : sshd;
  await using proxy = await TcpProxy.listen({ host: '127.0.0.1', port: first.port });
  const world = new World(proxy, life.isBehindBastion);
  await world.live(life);
  links.push(...world.links);
};

it(`closes every link and forward once, tells a loss once and leaves nothing, in ${LIVES} random lives over a real server (T-1.9, T-2.4, T-2.5, T-2.7)`, async () => {
  const seed = REPLAY.seed ?? Math.trunc(Math.random() * 2 ** 31);
  const lives = [...fc.sample(LIFE, { seed, numRuns: LIVES }).entries()].filter(
    ([number]) => (REPLAY.life ?? number) === number,
  );
  const queue = lives.values();
  const sessions: Link[] = [];
  const lane = async () => {
    for (const [number, life] of queue)
      await live(life, sessions).catch((cause: unknown) => {
        const what = `Life ${number} of the seed ${seed} did not end well: ${JSON.stringify(life)}`;
        throw new Error(`${what}\n${String(cause)}`, { cause });
      });
  };
  await Promise.all(Array.from({ length: LANES }, lane));
  expect(sessions.length).toBeGreaterThanOrEqual(lives.length);
  // Of the two hosts nobody is left but the two who were there before.
  await eventually('the servers are left', () =>
    Promise.resolve(sshd.sessions().length === 2 && bastion.sessions().length === 1),
  );
});

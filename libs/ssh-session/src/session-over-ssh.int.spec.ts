import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { connect, type Socket } from 'node:net';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { eventually, openHandles } from '../../../test/support/processes.js';
import { destinationTo, FarSocket, OperatorSide } from '../../../test/support/ssh-dialing.js';
import { LOGGED, startSshd, type TestSshd } from '../../../test/support/sshd.js';
import { TcpProxy } from '../../../test/support/tcp-proxy.js';
import {
  FarSide,
  MetadataFiles,
  type Destination,
  type Dial,
  type Exec,
  type Link,
  type NearAddress,
  type SessionHost,
} from './index.js';
import { MemoryMetadata, openPacedSessionHost, PACE, RecordedLog, type Pace } from './testing/index.js';

let leaked: ReturnType<typeof openHandles>;
let sshd: TestSshd;
let bastion: TestSshd;
let far: FarSocket;
/** One for all tests, so that only the first of them meets the hosts for the first time. */
let side: OperatorSide;

beforeAll(async () => {
  leaked = openHandles();
  side = await OperatorSide.make();
  [sshd, bastion] = await Promise.all([startSshd(), startSshd()]);
  far = await FarSocket.listen(join(sshd.directory, 'far'));
});
afterAll(async () => {
  await side[Symbol.asyncDispose]();
  await far[Symbol.asyncDispose]();
  await Promise.all([sshd.close(), bastion.close()]);
  expect(await leaked()).toEqual([]);
});

/** Fast enough for a test to wait for a loss, slow enough for a busy machine to answer in time. */
const QUICK: Pace = { timing: { interval: 250, deadline: 900 }, commandLimit: 600 };
/** Nothing happens by itself. */
const CALM = PACE;

/** A far side whose steps are shell commands. */
class ShellFarSide extends FarSide {
  commands = { cleanUp: 'true', stop: 'true', reset: 'true', checkPlane: 'true' };
  /** Called before each command. */
  before: (step: keyof ShellFarSide['commands']) => void = () => undefined;

  override cleanUp(exec: Exec): Promise<void> {
    return this.#run(exec, 'cleanUp');
  }

  override stopFarSide(exec: Exec, why: 'stop' | 'reset'): Promise<void> {
    return this.#run(exec, why);
  }

  override checkPlane(exec: Exec): Promise<void> {
    return this.#run(exec, 'checkPlane');
  }

  async #run(exec: Exec, step: keyof ShellFarSide['commands']): Promise<void> {
    this.before(step);
    const { code, stderr } = await exec(this.commands[step]);
    if (code !== 0) throw new Error(stderr);
  }
}

let places = 0;

/** Nothing of this process runs for so long. */
const standStill = (ms: number): void => void Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);

/** An operator's computer with a session host on it, and a path to the far side that can be broken. */
class Place implements AsyncDisposable {
  readonly log = new RecordedLog();
  readonly farSide = new ShellFarSide();
  readonly links: Link[] = [];
  readonly host: SessionHost;
  readonly metadataFile: string;

  private constructor(
    readonly proxy: TcpProxy,
    private readonly destination: Destination,
    pace: Pace,
  ) {
    places += 1;
    this.metadataFile = join(side.directory, `sessions-${places}`, 'one.json');
    this.host = this.openHost(pace);
  }

  /** A session host of this computer, as the process after the next start would have it. */
  openHost(pace: Pace): SessionHost {
    const dial: Dial = async (_target, { signal }) => {
      const link = await side.dial(this.destination, signal);
      this.links.push(link);
      return link;
    };
    const metadata = new MetadataFiles(dirname(this.metadataFile));
    return openPacedSessionHost({ dial, farSide: this.farSide, metadata, log: this.log }, pace);
  }

  static async make(
    pace: Pace,
    way: 'straight' | 'through a bastion' | 'without a proxy' = 'straight',
  ): Promise<Place> {
    const first = way === 'through a bastion' ? bastion : sshd;
    const proxy = await TcpProxy.listen({ host: '127.0.0.1', port: first.port });
    const destination =
      way !== 'through a bastion'
        ? destinationTo(sshd, way === 'straight' ? { port: proxy.port } : {})
        : destinationTo(sshd, { bastion: destinationTo(bastion, { port: proxy.port, pinName: 'bastion' }) });
    return new Place(proxy, destination, pace);
  }

  get link(): Link {
    return this.links.at(-1)!;
  }

  launch() {
    return this.host.launch({
      id: 'one',
      target: { host: 'test-host' },
      near: { kind: 'tcp' },
      farSocketPath: far.path,
    });
  }

  lost(): Promise<void> {
    return eventually('the loss is told', () => Promise.resolve(this.log.losses.length > 0));
  }

  state() {
    return this.host.status('one')?.state;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.host.close();
    await this.proxy[Symbol.asyncDispose]();
  }
}

const reach = (address: NearAddress): Socket =>
  address.kind === 'tcp' ? connect({ port: address.port, host: address.host }) : connect(address.path);

/** A near end over which something has been said there and back. */
const inUse = async (address: NearAddress): Promise<Socket> => {
  const near = reach(address);
  near.write('hello');
  await once(near, 'data');
  return near;
};

/** The code of the error that ends a socket. */
const errorOf = (socket: Socket): Promise<string | undefined> =>
  new Promise((resolve) => {
    socket.once('error', ({ code }: NodeJS.ErrnoException) => resolve(code));
    socket.once('close', () => resolve(undefined));
  });

const codeOf = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => 'done',
    (error: { code?: string }) => error.code,
  );

/** How many commands and probes the far side has seen; counted from now. */
const counter = (pattern: RegExp) => {
  const before = sshd.count(pattern);
  return () => sshd.count(pattern) - before;
};

let commands: () => number;
let handles: ReturnType<typeof openHandles>;
beforeEach(() => {
  commands = counter(LOGGED.command);
  handles = openHandles();
});
const expectNothingLeft = async () => expect(await handles()).toEqual([]);

describe('a session over SSH', () => {
  it('takes the refusal of a probe as an answer, and its silence starts anew (T-1.2)', async () => {
    await using place = await Place.make({ ...QUICK, timing: { interval: 200, deadline: 20_000 } });
    const probes = counter(LOGGED.probe);
    await place.launch();
    await sshd.logged(LOGGED.probe, sshd.count(LOGGED.probe) + 3);
    await eventually('an answer was heard', () => Promise.resolve(place.host.status('one')?.roundTrip !== null));
    expect(probes()).toBeGreaterThan(1);
    expect(place.log.losses).toEqual([]);
  });

  it.each([0, 3])(
    'survives a process that stood still beyond the deadline while the answer lay behind %i downloads (T-1.3)',
    async (downloads) => {
      await using place = await Place.make({ ...QUICK, timing: { interval: 250, deadline: 1_200 } }, 'without a proxy');
      await place.launch();
      const { link } = place;
      const probe = link.probe.bind(link);
      const over = Promise.withResolvers<number>();
      const running: Promise<unknown>[] = [];
      const probeBehindDownloads = async () => {
        // Under way before the probe, or they would begin behind its answer.
        const enough = link.bytesRead + downloads * 500_000;
        running.push(...Array.from({ length: downloads }, () => link.exec('head -c 4000000 /dev/zero')));
        while (link.bytesRead < enough) await new Promise((resolve) => setImmediate(resolve));
        // What is being sent fills what systems keep; then the far side answers, and nobody here can read.
        standStill(300);
        const answer = probe();
        standStill(1_000);
        const before = link.bytesRead;
        await answer;
        over.resolve(link.bytesRead - before);
      };
      link.probe = async () => {
        link.probe = probe;
        const probing = probeBehindDownloads();
        probing.catch(over.reject);
        return probing;
      };
      const inFront = await over.promise;
      await Promise.all(running);
      await eventually('the answer is taken in', () => Promise.resolve(place.state() !== 'unresponsive'));
      expect([place.log.losses, place.state()]).toEqual([[], 'connected']);
      // How many turns that takes is the system's to say: the test of the watchdog has turns of its own.
      expect(inFront).toBeGreaterThan(downloads * 100_000);
    },
  );

  it('is kept on a narrow path that transfers fill in both directions, where each probe waits behind them and none behind another (C29, T-1.2, T-1.3)', async () => {
    // A sixth of the times of production, and a path so wide that what systems keep of such transfers takes as long as there.
    await using place = await Place.make({ ...CALM, timing: { interval: 1_000, deadline: 7_500 } });
    place.proxy.narrow({ roundTripMs: 60, bytesPerSecond: 2_000_000 });
    const probes = counter(LOGGED.probe);
    const session = await place.launch();
    const transfers = await Promise.all(Array.from({ length: 4 }, () => inUse(session.address)));
    for (const near of transfers) {
      // What comes back is taken in; what is sent has no end.
      near.on('error', () => {}).on('data', () => {});
      const pour = () => {
        while (!near.destroyed && near.write(Buffer.alloc(65_536)));
      };
      near.on('drain', pour);
      pour();
    }
    const answers: number[] = [];
    await eventually(
      'three probes that waited were answered',
      () => {
        const { roundTrip = null } = place.host.status('one') ?? {};
        if (roundTrip !== null && roundTrip > 200 && roundTrip !== answers.at(-1)) answers.push(roundTrip);
        return Promise.resolve(answers.length >= 3 || session.lost.aborted);
      },
      50_000,
    );
    expect([place.log.losses, session.lost.aborted]).toEqual([[], false]);
    // One more than was answered may be under way, and one may have met an empty path at the start.
    expect(probes()).toBeLessThanOrEqual(answers.length + 2);
    for (const near of transfers) near.destroy();
  });

  it.each(['straight', 'through a bastion'] as const)(
    '%s is lost when its path falls silent, and everything of it ends (T-1.4, T-1.6, T-1.7, T-1.8, T-2.6, C28)',
    async (way) => {
      const place = await Place.make(QUICK, way);
      const session = await place.launch();
      const near = await inUse(session.address);
      const cut = errorOf(near);
      place.proxy.hold();
      const opening = codeOf(place.link.exec('true'));
      await place.lost();
      expect(await cut).toBe('ECONNRESET');
      expect(await opening).not.toBe('done');
      expect(await errorOf(reach(session.address))).toBe('ECONNREFUSED');
      expect(place.log.losses).toMatchObject([{ session: 'one', cause: 'silence', failedCloses: {} }]);
      expect(place.log.losses[0]?.silence).toBeGreaterThan(900);
      expect(place.host.status('one')).toMatchObject({ state: 'disconnected', error: { code: 'transport-lost' } });
      expect([session.lost.aborted, commands(), place.link.ended]).toEqual([true, 0, true]);
      expect(await place.host.stop('one')).toMatchObject({ cleanUp: 'skipped', farStop: 'skipped' });
      await place[Symbol.asyncDispose]();
      await expectNothingLeft();
    },
  );

  it('is lost at once when its path is reset (T-1.4)', async () => {
    await using place = await Place.make(CALM);
    const session = await place.launch();
    const near = await inUse(session.address);
    const cut = errorOf(near);
    place.proxy.reset();
    await place.lost();
    expect(await cut).toBe('ECONNRESET');
    expect(place.log.losses).toMatchObject([{ cause: 'link-ended', failedCloses: {} }]);
  });

  it('is lost at once when its bastion alone ends (T-1.4, T-1.8)', async () => {
    const place = await Place.make(CALM, 'through a bastion');
    await place.launch();
    for (const pid of bastion.sessions()) process.kill(pid);
    await place.lost();
    expect(place.log.losses).toMatchObject([{ cause: 'link-ended', failedCloses: {} }]);
    await place[Symbol.asyncDispose]();
    await expectNothingLeft();
  });

  it('leaves the far side and what a resume needs as they are, so a resume reaches the same far agent (T-1.11, T-2.14)', async () => {
    await using place = await Place.make(QUICK);
    const session = await place.launch();
    (await inUse(session.address)).destroy();
    const kept = await readFile(place.metadataFile);
    place.proxy.hold();
    await place.lost();
    place.proxy.heal();
    expect([await readFile(place.metadataFile), commands()]).toEqual([kept, 0]);
    expect(await codeOf(place.launch())).toBe('transport-lost');
    await place.host.stop('one');
    expect([await readFile(place.metadataFile), commands()]).toEqual([kept, 0]);
    const again = await place.host.resume('one');
    (await inUse(again.address)).destroy();
    expect(place.state()).toBe('connected');
  });

  it.each([
    ['stop', (host: SessionHost) => host.stop('one')],
    ['reset', (host: SessionHost) => host.reset('one')],
    ['close', (host: SessionHost) => host.close()],
  ])('ends by %s without a word of loss, and leaves nothing (T-2.10, T-2.4)', async (_, dispose) => {
    const place = await Place.make(CALM);
    const session = await place.launch();
    (await inUse(session.address)).destroy();
    await dispose(place.host);
    expect([place.log.losses, session.lost.aborted, place.link.ended]).toEqual([[], false, true]);
    expect(await errorOf(reach(session.address))).toBe('ECONNREFUSED');
    await place[Symbol.asyncDispose]();
    await expectNothingLeft();
  });

  it('is stopped at once while it is unresponsive, without a command (T-2.11, C28)', async () => {
    await using place = await Place.make({ timing: { interval: 200, deadline: 60_000 }, commandLimit: 60_000 });
    await place.launch();
    place.proxy.hold();
    await eventually('it is unresponsive', () => Promise.resolve(place.state() === 'unresponsive'));
    expect(await place.host.stop('one')).toEqual({ cleanUp: 'skipped', farStop: 'skipped', canBeResumed: true });
    expect([commands(), place.log.losses]).toEqual([0, []]);
  });

  it('has no watchdog while a host is met for the first time and a person thinks (T-2.2)', async () => {
    await using stranger = await OperatorSide.make();
    const interval = 40;
    const host = openPacedSessionHost(
      {
        dial: (_target, { signal }) => stranger.dial(destinationTo(sshd), signal),
        farSide: new ShellFarSide(),
        metadata: new MemoryMetadata(),
        log: new RecordedLog(),
      },
      { timing: { interval, deadline: 20_000 }, commandLimit: 20_000 },
    );
    const probes = counter(LOGGED.probe);
    const connections = counter(LOGGED.connection);
    const think = Promise.withResolvers<boolean>();
    stranger.answer = think.promise;
    const launching = host.launch({ id: 'one', target: { host: 'x' }, near: { kind: 'tcp' }, farSocketPath: far.path });
    await eventually('the person is asked', () => Promise.resolve(stranger.questions.length === 1));
    const since = performance.now();
    await eventually('several intervals are over', () => Promise.resolve(performance.now() - since > 5 * interval));
    expect([probes(), connections()]).toEqual([0, 1]);
    think.resolve(true);
    await launching;
    // From here on it is a session, and somebody watches it.
    await eventually('a probe was sent', () => Promise.resolve(probes() > 0));
    await host.close();
  });

  it('has no watchdog where it is in no record (T-2.2)', async () => {
    await using place = await Place.make(CALM);
    await place.launch();
    await place.host.close();
    const probes = counter(LOGGED.probe);
    // Each step takes longer than several intervals.
    place.farSide.commands = { ...place.farSide.commands, checkPlane: 'sleep 0.4', reset: 'sleep 0.4' };
    const host = place.openHost({ timing: { interval: 50, deadline: 20_000 }, commandLimit: 20_000 });
    await host.reset('one');
    await sshd.logged(LOGGED.command, 2);
    expect([commands(), probes(), place.link.ended]).toEqual([2, 0, true]);
    await host.close();
  });
});

/** When a path dies under a command. */
const MOMENTS: Readonly<Record<string, (place: Place) => Promise<void>>> = {
  'before its channel is open': async (place) => place.proxy.hold(),
  'before it is accepted': async (place) => {
    const { link } = place;
    const before = link.bytesRead;
    while (link.bytesRead === before) await new Promise((resolve) => setImmediate(resolve));
    place.proxy.hold();
  },
  'while it runs and prints': async (place) => {
    await eventually('the command runs', () => Promise.resolve(commands() === 1));
    place.proxy.hold();
  },
};

describe('a stop whose path dies after its reading', () => {
  it.each([
    ['straight', 'before its channel is open'],
    ['straight', 'before it is accepted'],
    ['straight', 'while it runs and prints'],
    ['through a bastion', 'while it runs and prints'],
  ] as const)('closes at the limit of the command, %s, %s (T-2.8, T-1.8)', async (way, moment) => {
    const place = await Place.make({ ...CALM, commandLimit: 600 }, way);
    const session = await place.launch();
    const near = await inUse(session.address);
    const cut = errorOf(near);
    place.farSide.commands = { ...place.farSide.commands, cleanUp: 'while :; do echo x; sleep 0.01; done' };
    let dying: Promise<void> | undefined;
    place.farSide.before = (step) => {
      if (step === 'cleanUp') dying = Promise.resolve().then(() => MOMENTS[moment]?.(place));
    };
    expect(await place.host.stop('one')).toEqual({ cleanUp: 'failed', farStop: 'failed', canBeResumed: true });
    await dying;
    expect([place.link.ended, place.log.losses, await cut]).toEqual([true, [], 'ECONNRESET']);
    await place[Symbol.asyncDispose]();
    await expectNothingLeft();
  });
});

describe('a reset', () => {
  it('restarts the far side and keeps what a resume needs', async () => {
    await using place = await Place.make(CALM);
    await place.launch();
    await place.host.reset('one');
    await eventually('both steps were carried out', () => Promise.resolve(commands() === 2));
    expect([place.state(), place.link.ended]).toEqual([undefined, true]);
    await place.host.resume('one');
    expect(place.state()).toBe('connected');
  });

  it.each([
    ['checkPlane', 'plane-unreachable', 'connected'],
    ['reset', 'far-stop-failed', undefined],
  ])('names a far side that says no to %s as %s (T-2.15)', async (step, code, state) => {
    await using place = await Place.make(CALM);
    await place.launch();
    place.farSide.commands = { ...place.farSide.commands, [step]: 'exit 1' };
    expect(await codeOf(place.host.reset('one'))).toBe(code);
    expect(place.state()).toBe(state);
  });

  it.each(['checkPlane', 'reset'].flatMap((step) => (['reset', 'hold'] as const).map((death) => ({ step, death }))))(
    'reports the loss when the path dies during $step, by $death (T-2.15)',
    async ({ step, death }) => {
      await using place = await Place.make({ ...CALM, commandLimit: death === 'reset' ? 20_000 : 3_000 });
      await place.launch();
      const kept = await readFile(place.metadataFile);
      place.farSide.commands = { ...place.farSide.commands, [step]: 'sleep 30' };
      const resetting = codeOf(place.host.reset('one'));
      await eventually('the command runs', () => Promise.resolve(commands() === (step === 'reset' ? 2 : 1)));
      place.proxy[death]();
      expect(await resetting).toBe('transport-lost');
      expect([place.state(), place.link.ended]).toEqual([undefined, true]);
      expect(await readFile(place.metadataFile)).toEqual(kept);
    },
  );

  it('of an unresponsive session sends nothing and reports the loss (T-2.15)', async () => {
    await using place = await Place.make({ timing: { interval: 200, deadline: 60_000 }, commandLimit: 60_000 });
    await place.launch();
    place.proxy.hold();
    await eventually('it is unresponsive', () => Promise.resolve(place.state() === 'unresponsive'));
    expect(await codeOf(place.host.reset('one'))).toBe('transport-lost');
    expect([commands(), place.state()]).toEqual([0, undefined]);
  });
});

import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type Server, type Socket } from 'node:net';
import { chmod } from 'node:fs/promises';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PinStore, type Destination, type HostKeyQuestion, type Link } from '@rollcall/ssh-session';
import { sshDialIn, SystemSessionClock, type SessionClock } from '@rollcall/ssh-session/testing';
import type { TestSshd } from './sshd.js';

/** What a person would have configured for a server of a test, reached at another port where there is a proxy in between. */
export const destinationTo = (
  sshd: TestSshd,
  { port = sshd.port, bastion = null, ...others }: Partial<Destination> = {},
): Destination => ({
  name: 'test-host',
  host: '127.0.0.1',
  port,
  user: sshd.user,
  pinName: bastion === null ? 'test-host' : 'behind-bastion',
  localAddress: null,
  family: 4,
  agent: null,
  identities: [sshd.keyFile],
  named: [],
  isIdentitiesOnly: false,
  bastion,
  ...others,
});

/** A person's computer: their pins in a directory of its own, and how they answer. Remove it in the end; that closes what was dialled. */
export class OperatorSide implements AsyncDisposable {
  readonly questions: HostKeyQuestion[] = [];
  readonly refused: Error[] = [];
  readonly #links: Link[] = [];
  /** What the person says to a host's key. */
  answer: boolean | Promise<boolean> = true;

  private constructor(
    readonly directory: string,
    readonly pinFile: string,
    readonly pins: PinStore,
  ) {}

  static async make(): Promise<OperatorSide> {
    const directory = await mkdtemp(join(tmpdir(), 'rollcall-operator-'));
    const pinFile = join(directory, 'pins', 'ssh-host-keys.json');
    return new OperatorSide(directory, pinFile, new PinStore(pinFile));
  }

  async dial(
    destination: Destination,
    signal = new AbortController().signal,
    clock: SessionClock = new SystemSessionClock(),
  ): Promise<Link> {
    const link = await sshDialIn(clock, {
      pins: this.pins,
      resolve: () => Promise.resolve(destination),
      confirm: (question) => {
        this.questions.push(question);
        return Promise.resolve(this.answer);
      },
      onRefused: (error) => this.refused.push(error),
    })({ host: destination.name }, { signal });
    this.#links.push(link);
    return link;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const link of this.#links) await link.close();
    await rm(this.directory, { recursive: true, force: true });
  }
}

/** Somebody on the far side who listens on a socket: a far agent, as far as a forward is concerned. */
export class FarSocket implements AsyncDisposable {
  readonly accepted: Socket[] = [];

  private constructor(
    readonly path: string,
    private readonly server: Server,
  ) {}

  /** @param serve what to do with each connection (Default: to say everything back) */
  static async listen(path: string, serve = (socket: Socket) => void socket.pipe(socket)): Promise<FarSocket> {
    const server = createServer({ allowHalfOpen: true });
    const far = new FarSocket(path, server);
    server.on('connection', (socket) => {
      far.accepted.push(socket);
      socket.on('error', () => {});
      serve(socket);
    });
    await once(server.listen(path), 'listening');
    // The server of the test may be somebody else.
    await chmod(path, 0o777);
    return far;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const closed = once(this.server, 'close');
    this.server.close();
    for (const socket of this.accepted) socket.destroy();
    await closed;
  }
}

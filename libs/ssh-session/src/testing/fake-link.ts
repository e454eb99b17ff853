import { Link, NearForward, type CommandResult, type NearAddress, type NearEnd } from '../ports.js';

/** What a close does: ends what it closes, or fails in one of the ways in which a close can fail. */
export type Closing = 'ends' | 'rejects' | 'throws' | 'hangs';

/** How the far side answers a command: at once, or never. */
export type CommandAnswer = CommandResult | 'silence' | Error;

/** A command that went well. */
export const SUCCESS: CommandResult = { code: 0, signal: null, stdout: '', stderr: '' };

type Waiting = { readonly resolve: () => void; readonly reject: (error: Error) => void };

const close = async (closing: Closing, what: string): Promise<void> => {
  if (closing === 'rejects') throw new Error(`${what} cannot be closed`);
  if (closing === 'hangs') await new Promise<never>(() => undefined);
};

/** A connection that a test plays the far side of. It notes every call in `journal`. */
export class FakeLink extends Link {
  readonly journal: string[] = [];
  ended = false;
  bytesRead = 0;
  closing: Closing = 'ends';
  forwardClosing: Closing = 'ends';
  refusesForward = false;
  /** What the far side says to a command. */
  answer: (command: string) => CommandAnswer = () => SUCCESS;
  /** What the far side says to a probe: `waits` until `answerProbe`. */
  probes: 'waits' | 'answered' = 'answered';
  /** Called at each call of the link and of its forward, before anything comes of it. */
  called: (what: string) => void = () => undefined;
  mostProbesAtOnce = 0;
  readonly forwards: FakeForward[] = [];
  readonly #listeners = new Set<() => void>();
  readonly #waitingProbes = new Set<Waiting>();
  readonly #waiting = new Set<Waiting>();

  constructor(readonly remoteHost = 'far.example') {
    super();
  }

  /** How often it was called so. */
  count(what: string): number {
    return this.journal.filter((each) => each === what).length;
  }

  /** How many probes and commands wait in it. */
  get waiting(): number {
    return this.#waiting.size + this.#waitingProbes.size;
  }

  /** How many listeners wait for its end. */
  get listeners(): number {
    return this.#listeners.size;
  }

  override async probe(): Promise<void> {
    this.note('probe');
    this.#refuseWhenEnded();
    if (this.probes === 'answered') return undefined;
    return this.#wait(this.#waitingProbes);
  }

  override async exec(command: string): Promise<CommandResult> {
    this.note(`exec ${command}`);
    this.#refuseWhenEnded();
    const answer = this.answer(command);
    if (answer instanceof Error) throw answer;
    if (answer === 'silence') await this.#wait(this.#waiting);
    return answer === 'silence' ? SUCCESS : answer;
  }

  override async forward(near: NearEnd): Promise<NearForward> {
    this.note('forward');
    this.#refuseWhenEnded();
    if (this.refusesForward) throw new Error('The near end is taken');
    const forward = new FakeForward(this, near);
    this.forwards.push(forward);
    return forward;
  }

  override onEnd(listener: () => void): () => void {
    this.called('onEnd');
    if (this.ended) listener();
    else this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  override close(): Promise<void> {
    this.note('close link');
    if (this.closing === 'throws') throw new Error('The link cannot be closed');
    if (this.closing === 'ends') this.end();
    return close(this.closing, 'The link');
  }

  /** The far side answers the probe that waits. */
  answerProbe(): void {
    for (const probe of this.#waitingProbes) probe.resolve();
    this.#waitingProbes.clear();
  }

  /** A probe fails although the connection goes on. */
  failProbe(): void {
    for (const probe of this.#waitingProbes) probe.reject(new Error('The probe failed'));
    this.#waitingProbes.clear();
  }

  /** The commands that wait are answered. */
  answerCommands(): void {
    for (const command of this.#waiting) command.resolve();
    this.#waiting.clear();
  }

  /** The commands that wait are refused, and the connection goes on. */
  refuseCommands(): void {
    for (const command of this.#waiting) command.reject(new Error('Refused'));
    this.#waiting.clear();
  }

  /** A hop ends: listeners first, then whoever waits, as a real one does. */
  end(): void {
    if (this.ended) return;
    this.ended = true;
    const listeners = [...this.#listeners];
    this.#listeners.clear();
    for (const listener of listeners) listener();
    for (const each of [...this.#waitingProbes, ...this.#waiting]) each.reject(new Error('The transport ended'));
    this.#waitingProbes.clear();
    this.#waiting.clear();
  }

  note(what: string): void {
    this.journal.push(what);
    this.called(what);
  }

  #refuseWhenEnded(): void {
    if (this.ended) throw new Error('Not connected');
  }

  async #wait(among: Set<Waiting>): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    among.add({ resolve, reject });
    this.mostProbesAtOnce = Math.max(this.mostProbesAtOnce, this.#waitingProbes.size);
    return promise;
  }
}

/** The near end of a fake link's forward. */
export class FakeForward extends NearForward {
  readonly address: NearAddress;
  isOpen = true;

  constructor(
    private readonly link: FakeLink,
    near: NearEnd,
  ) {
    super();
    this.address = near.kind === 'unix' ? near : { kind: 'tcp', host: '127.0.0.1', port: 4_000 };
  }

  override close(): Promise<void> {
    this.link.note('close forward');
    if (this.link.forwardClosing === 'throws') throw new Error('The forward cannot be closed');
    if (this.link.forwardClosing === 'ends') this.isOpen = false;
    return close(this.link.forwardClosing, 'The forward');
  }
}

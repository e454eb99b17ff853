import { TIMING } from '@rollcall/transport-watchdog';
import type { Dial } from '../ports.js';
import type { LaunchSpec, SessionHost } from '../session-host.js';
import type { Pace } from '../session.js';
import { FakeLink } from './fake-link.js';
import { MemoryMetadata, OneCommandFarSide, RecordedLog } from './fakes.js';
import { ManualSessionClock } from './manual-session-clock.js';
import { openPacedSessionHost } from './open-paced-session-host.js';

/** The times of production. */
export const PACE: Pace = { timing: TIMING, commandLimit: 30_000 };

/** A session to launch on a bench. */
export const SPEC: LaunchSpec = {
  id: 'one',
  target: { host: 'far.example' },
  near: { kind: 'unix', path: '/near.sock' },
  farSocketPath: '/far.sock',
};

/** A session host over fakes, in a clock of the test's. */
export class Bench {
  readonly clock = new ManualSessionClock();
  readonly metadata = new MemoryMetadata();
  readonly log = new RecordedLog();
  readonly links: FakeLink[] = [];
  readonly host: SessionHost;
  dials = 0;
  /** Called at each dial, before anything comes of it. */
  dialled: () => void = () => undefined;
  /** While set, dials wait for it. */
  dialsWaitFor: Promise<unknown> = Promise.resolve();
  /** Sees each link before anybody has it. */
  prepare: (link: FakeLink) => void = () => undefined;

  constructor(pace: Pace = PACE) {
    const { metadata, log } = this;
    const farSide = new OneCommandFarSide();
    this.host = openPacedSessionHost({ dial: this.#dial, farSide, metadata, log }, pace, this.clock);
  }

  /** The newest link. */
  get link(): FakeLink {
    const link = this.links.at(-1);
    if (!link) throw new Error('Nothing was dialled yet');
    return link;
  }

  /** Everything that was called on the links, in order; closes and commands only. */
  get closesAndCommands(): readonly string[] {
    return this.links.flatMap(({ journal }) => journal.filter((what) => /^(close|exec)/.test(what)));
  }

  /** A launched session whose far side answers at once. */
  async launch(spec: LaunchSpec = SPEC): Promise<FakeLink> {
    await this.host.launch(spec);
    return this.link;
  }

  /** A session whose far side has fallen silent, for that many milliseconds. */
  async launchAndFallSilent(ms: number): Promise<FakeLink> {
    const link = await this.launch();
    link.probes = 'waits';
    link.answer = () => 'silence';
    await this.clock.advance(ms);
    return link;
  }

  readonly #dial: Dial = async (_target, { signal }) => {
    this.dials += 1;
    this.dialled();
    const calledOff = Promise.withResolvers<never>();
    calledOff.promise.catch(() => undefined);
    const callOff = () => calledOff.reject(new Error('The dial was called off'));
    signal.addEventListener('abort', callOff);
    await Promise.race([this.dialsWaitFor, calledOff.promise]).finally(() =>
      signal.removeEventListener('abort', callOff),
    );
    const link = new FakeLink(`far-${this.links.length + 1}.example`);
    this.prepare(link);
    this.links.push(link);
    return link;
  };
}

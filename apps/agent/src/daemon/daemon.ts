import type { Limits } from '@rollcall/check-schedule';
import { Lifetime, type Clock } from '@rollcall/lifetimes';
import { ControlServer, newControlToken, takeOwnership, type ControlRoutes } from '@rollcall/local-control';
import { removePrivateFile, removeTemporaries, writePrivateFile } from '@rollcall/secret-file';
import type { StopReasonWord } from '@rollcall/wire';
import { randomBytes, randomUUID } from 'node:crypto';
import { CheckLoop } from '../check/check-loop.js';
import type { SelfPortrait } from '../check/check-body.js';
import { keepBoot, nextBoot } from '../installation/boot-counter.js';
import { FileNotebook, takeChain } from '../installation/file-notebook.js';
import { latchedSince, setLatch } from '../installation/latch.js';
import { loadEnrolment, type LoadedEnrolment } from '../installation/load-enrolment.js';
import { openStateDirectory, type StateDirectory } from '../installation/state-directory.js';
import { LogTailUploads } from '../log-tail/log-tail-uploads.js';
import type { Log } from '../log.js';
import { ClockProbe } from '../probes/clock-probe.js';
import { CredentialProbe } from '../probes/credential-probe.js';
import type { Probe } from '../probes/probe.js';
import { PROBE_EVERY, ProbedReadiness } from '../probes/probed-readiness.js';
import { VERSION } from '../version.js';
import { checkSentence, shownChecks, type AgentStatus } from './agent-status.js';
import { findingsLine, shownReadiness } from './shown-readiness.js';
import { toldRotation, type Reached, type RotationEnd } from '../rotation/rotate.js';
import { Rotations } from '../rotation/rotations.js';
import { stopReasonIn } from './stop-reason.js';

/** What a daemon is made of. */
export type DaemonOptions = {
  readonly directory: StateDirectory;
  readonly clock: Clock;
  /** Look at what is around the agent; it adds those that look at itself. */
  readonly probes: readonly Probe[];
  /** From one look of a probe to its next, in milliseconds. (Default: 60,000) */
  readonly probeEvery?: number;
  readonly portrait: SelfPortrait;
  readonly limits: Limits;
  readonly log: Log;
  /** The last lines of the log, for the plane when it asks for them. */
  readonly logTail: () => Buffer;
  /** Resolves when running work has been finished or put down; checks go on meanwhile (C17). (Default: there is no work) */
  readonly drain?: () => Promise<void>;
  /** Told of each step of a rotation. (Default: nobody listens) */
  readonly reached?: Reached | undefined;
};

/** Why there is no daemon: another one is running, or a person stopped it. */
export type NotStarted =
  { readonly kind: 'already-running' } | { readonly kind: 'stopped-by-person'; readonly since: string };

/** The resident agent: owns the state directory, the check loop and the control socket, and their common end. */
export class Daemon {
  readonly #o: DaemonOptions;
  readonly #lifetime = new Lifetime();
  readonly #loop: CheckLoop;
  readonly #readiness: ProbedReadiness;
  readonly #credentialProbe: CredentialProbe;
  readonly #rotations: Rotations;
  readonly #notebook: FileNotebook;
  #askToStop: (reason: StopReasonWord) => void = () => undefined;
  /** The first reason that was given; later ones change nothing. */
  readonly #stopAsked = new Promise<StopReasonWord>((resolve) => (this.#askToStop = resolve));
  #installation: LoadedEnrolment;

  private constructor(options: DaemonOptions, boot: number, notebook: FileNotebook, installation: LoadedEnrolment) {
    this.#o = options;
    this.#notebook = notebook;
    this.#installation = installation;
    const uploads = new LogTailUploads({
      clock: options.clock,
      log: options.log,
      tail: options.logTail,
      beside: (work) => this.#lifetime.run(work),
    });
    const newBootId = () => randomBytes(4).toString('hex');
    const clockProbe = new ClockProbe();
    this.#rotations = new Rotations({
      directory: options.directory,
      clock: options.clock,
      log: options.log,
      settled: () => notebook.settled(),
      prefer: (key) => this.#loop.prefer(key),
      reload: () => this.#reload(),
      beside: (work) =>
        this.#lifetime.run(async (signal) => {
          await work(signal);
          // Whether the next one could be kept is to be seen at once, and not a minute later.
          this.#credentialProbe.lookAgain();
        }),
      reached: options.reached,
    });
    this.#credentialProbe = new CredentialProbe(
      options.directory,
      () => this.#loop.key,
      () => this.#rotations.problem !== null,
    );
    this.#readiness = new ProbedReadiness({
      clock: options.clock,
      probes: [...options.probes, clockProbe, this.#credentialProbe],
      every: options.probeEvery ?? PROBE_EVERY,
    });
    this.#loop = new CheckLoop({
      ...options,
      readiness: this.#readiness,
      onSighting: (sighting) => clockProbe.observe(sighting),
      notebook,
      onAsked: (asked) => {
        uploads.heard(asked);
        this.#rotations.heard(asked);
      },
      boot: { counter: boot, id: newBootId() },
      chance: Math.random,
      newCheckId: randomUUID,
      newBootId,
    });
  }

  /**
   * Runs until it is asked to stop and has said goodbye; or says why it does not run.
   *
   * @param onReady called when the control socket answers; is given what asks the daemon to stop
   */
  static async run(
    options: DaemonOptions,
    onReady: (stop: (reason: StopReasonWord) => void) => void,
  ): Promise<NotStarted | null> {
    const { directory, log } = options;
    await openStateDirectory(directory);
    const ownership = await takeOwnership(directory.lock, directory.socket);
    if (!ownership) return { kind: 'already-running' };
    try {
      const since = await latchedSince(directory.latch);
      if (since !== null) return { kind: 'stopped-by-person', since };
      await removeTemporaries(directory.path);
      const boot = await nextBoot(directory.boot);
      const notebook = new FileNotebook(directory, log, options.reached);
      await keepBoot(directory.boot, boot).catch((error: unknown) =>
        log.error('The number of this start cannot be kept', error),
      );
      const chain = await takeChain(directory.chain);
      // A run in which no check is answered leaves it to the next one.
      if (chain !== null) notebook.keepChain(chain);
      const daemon = new Daemon(options, boot, notebook, await loadEnrolment(directory, chain));
      await daemon.#live(onReady);
      return null;
    } finally {
      await ownership.release();
    }
  }

  async #live(onReady: (stop: (reason: StopReasonWord) => void) => void): Promise<void> {
    const { directory, log, drain } = this.#o;
    const token = newControlToken();
    await writePrivateFile(directory.controlToken, `${token}\n`, { durable: false });
    const control = await ControlServer.listen({
      address: { path: directory.socket },
      token,
      routes: this.#routes(),
      onFault: (error) => log.error('A local command failed', error),
    });
    this.#readiness.onChange(() => log.info(findingsLine(this.#readiness.current())));
    try {
      this.#adopt(this.#installation);
      this.#lifetime.run((signal) => this.#loop.run(signal));
      this.#lifetime.run((signal) => this.#readiness.run(signal));
      onReady((reason) => this.#askToStop(reason));
      const reason = await Promise.race([this.#stopAsked, this.#failed()]);
      log.info(`Stopping (${reason})`);
      await drain?.();
      await this.#lifetime.end();
      await this.#loop.goodbye(reason);
    } finally {
      await this.#lifetime.end();
      await this.#notebook.end();
      await control.close();
      await removePrivateFile(directory.controlToken);
    }
  }

  /** A loop that dies takes the daemon with it: one that is up and checks nothing would be worse than none. */
  async #failed(): Promise<never> {
    const { signal } = this.#lifetime;
    await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
    await this.#lifetime.end();
    return new Promise<never>(() => undefined);
  }

  #adopt(installation: LoadedEnrolment): void {
    this.#installation = installation;
    this.#loop.use(installation.state === 'enrolled' ? installation.enrolment : null);
    this.#credentialProbe.lookAgain();
    if (installation.state !== 'enrolled') this.#o.log.warn(installation.sentence);
  }

  async #reload(): Promise<void> {
    await this.#notebook.settled();
    this.#notebook.forgetChain();
    this.#adopt(await loadEnrolment(this.#o.directory));
  }

  /** By hand: with the key that this agent checks in with. */
  async #rotate(): Promise<RotationEnd> {
    const { key } = this.#loop;
    if (this.#installation.state !== 'enrolled' || key === null || this.#loop.status.state === 'waiting-for-person')
      return { kind: 'lost', why: 'this agent has no credential that works' };
    return this.#rotations.begin(this.#installation.enrolment.plane, key);
  }

  #routes(): ControlRoutes {
    return {
      'GET /v1/status': () => ({ status: 200, body: this.#status() }),
      // An enrolment has put a new credential in place: it is checked in with at once (O16).
      'POST /v1/reload': async () => {
        await this.#reload();
        return { status: 202, body: this.#status() };
      },
      'POST /v1/rotate': async () => ({ status: 200, body: toldRotation(await this.#rotate()) }),
      'POST /v1/stop': async (body) => {
        const reason = stopReasonIn(body);
        if (!reason) return { status: 422, body: { error: 'A reason out of the fixed list is needed' } };
        // The latch is durable before anybody hears of the stop, so a crash in between cannot undo what a person said.
        if (reason === 'person') await setLatch(this.#o.directory.latch, this.#o.clock.wall());
        this.#askToStop(reason);
        return { status: 202, body: { stopping: reason, pid: process.pid } };
      },
    };
  }

  #status(): AgentStatus {
    const checks = this.#loop.status;
    const installation = this.#installation;
    const isEnrolled = installation.state === 'enrolled';
    const problems = [checks.clockProblem, this.#notebook.problem, this.#rotations.problem].filter(
      (problem) => problem !== null,
    );
    return {
      running: true,
      version: VERSION,
      pid: process.pid,
      state: isEnrolled && checks.state !== 'idle' ? checks.state : isEnrolled ? 'not-enrolled' : installation.state,
      sentence: isEnrolled ? checkSentence(checks) : installation.sentence,
      stoppedByPersonSince: null,
      plane: isEnrolled ? installation.address : null,
      machine: checks.machine,
      checks: shownChecks(checks),
      readiness: shownReadiness(this.#readiness.current()),
      problems,
    };
  }
}

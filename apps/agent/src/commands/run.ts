import { LIMITS } from '@rollcall/check-schedule';
import { SystemClock } from '@rollcall/lifetimes';
import { arch, hostname, platform } from 'node:os';
import { Daemon } from '../daemon/daemon.js';
import { EXIT, Told } from '../exit-code.js';
import type { StateDirectory } from '../installation/state-directory.js';
import { RememberedLines } from '../log-tail/remembered-lines.js';
import { lineLog } from '../log.js';
import { DiskProbe } from '../probes/disk-probe.js';
import { LogoutProbe } from '../probes/logout-probe.js';
import { PROBE_EVERY } from '../probes/probed-readiness.js';
import type { Reached } from '../rotation/rotate.js';
import { VERSION } from '../version.js';

/** What this machine says of itself, in enrolment and checks. */
export const portrait = () => {
  const name = hostname();
  return {
    name: name || null,
    report: { hostname: name || null, agentVersion: VERSION, platform: platform(), arch: arch() },
  };
};

/**
 * `rollcall-agent run`: the daemon in the foreground, for a service manager or a terminal.
 *
 * SIGTERM and SIGINT stop it with the reason `signal` and leave no latch; a second one changes nothing, because the goodbye is under its own
 * deadline (O17, C17).
 *
 * @param reached told of each step of a rotation; no command line and no environment can give one (Default: nobody listens)
 */
export const run = async (directory: StateDirectory, _options?: unknown, reached?: Reached): Promise<number> => {
  const clock = new SystemClock();
  const remembered = new RememberedLines();
  const log = lineLog((line) => {
    remembered.add(line);
    process.stderr.write(line);
  }, Date.now);
  let stop: (() => void) | null = null;
  let signalled = false;
  const onSignal = () => {
    signalled = true;
    stop?.();
  };
  process.on('SIGTERM', onSignal).on('SIGINT', onSignal).on('SIGHUP', onSignal);
  const notStarted = await Daemon.run(
    {
      directory,
      clock,
      log,
      logTail: () => remembered.tail(),
      probes: [new DiskProbe(directory.path), new LogoutProbe()],
      probeEvery: lowered(process.env['ROLLCALL_AGENT_PROBE_INTERVAL_MS'], PROBE_EVERY),
      portrait: portrait(),
      limits: { ...LIMITS, floor: lowered(process.env['ROLLCALL_AGENT_INTERVAL_FLOOR_MS'], LIMITS.floor) },
      reached,
    },
    (ask) => {
      stop = () => ask('signal');
      log.info(`rollcall-agent ${VERSION} is running, process ${process.pid}`);
      if (signalled) stop();
    },
  );
  if (notStarted?.kind === 'stopped-by-person')
    throw new Told(
      EXIT.stoppedByPerson,
      `A person stopped this agent (${notStarted.since}), and it stays stopped. To start it: rollcall-agent start`,
    );
  if (notStarted) process.stdout.write('The agent is running already; using that one.\n');
  else log.info('Stopped');
  return EXIT.ok;
};

/**
 * A number of milliseconds that the environment may lower, so that tests of whole processes take seconds. Not for machines: a plane counts
 * on the floor, and the catalogue of blockers on the probes.
 */
const lowered = (given: string | undefined, usual: number): number => {
  const ms = Number(given);
  return Number.isInteger(ms) && ms > 0 && ms < usual ? ms : usual;
};

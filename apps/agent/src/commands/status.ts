import { shownStatus } from '../daemon/shown-status.js';
import type { AgentStatus } from '../daemon/agent-status.js';
import { EXIT } from '../exit-code.js';
import { latchedSince } from '../installation/latch.js';
import { loadEnrolment } from '../installation/load-enrolment.js';
import type { StateDirectory } from '../installation/state-directory.js';
import { VERSION } from '../version.js';
import { LocalDaemon } from './local-daemon.js';

/** `rollcall-agent status [--json]`: what the daemon says, or what the state directory says when there is none. */
export const status = async (directory: StateDirectory, options: { json?: boolean }): Promise<number> => {
  const found = (await new LocalDaemon(directory).status()) ?? (await withoutDaemon(directory));
  process.stdout.write(options.json ? `${JSON.stringify(found)}\n` : shownStatus(found));
  if (!found.running) return EXIT.notRunning;
  return found.state === 'waiting-for-person' ? EXIT.deleted : EXIT.ok;
};

const withoutDaemon = async (directory: StateDirectory): Promise<AgentStatus> => {
  const since = await latchedSince(directory.latch);
  const installation = await loadEnrolment(directory);
  const isEnrolled = installation.state === 'enrolled';
  const sentence =
    since !== null
      ? `A person stopped it (${since}); it stays stopped until "rollcall-agent start".`
      : isEnrolled
        ? 'Not running.'
        : installation.sentence;
  return {
    running: false,
    version: VERSION,
    pid: null,
    state: isEnrolled ? 'stopped' : installation.state,
    sentence,
    stoppedByPersonSince: since,
    plane: isEnrolled ? installation.address : null,
    machine: isEnrolled ? installation.enrolment.machine : null,
    checks: null,
    readiness: null,
    problems: [],
  };
};

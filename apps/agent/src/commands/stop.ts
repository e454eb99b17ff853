import { SystemClock } from '@rollcall/lifetimes';
import { access } from 'node:fs/promises';
import { EXIT, Told } from '../exit-code.js';
import { setLatch } from '../installation/latch.js';
import { openStateDirectory, type StateDirectory } from '../installation/state-directory.js';
import { LocalDaemon } from './local-daemon.js';
import { until } from './until.js';

/** How long a stop may take: the goodbye's deadline, running work, and some. */
const PATIENCE_MS = 60_000;

/** `rollcall-agent stop`: asks the daemon, waits for its end. With the reason `person` the latch is set even when no daemon runs (O7). */
export const stop = async (directory: StateDirectory, { reason }: { reason: string }): Promise<number> => {
  await openStateDirectory(directory);
  const clock = new SystemClock();
  const pid = await new LocalDaemon(directory).stop(reason).catch(async (error: unknown) => {
    // Whatever this one does, what a person said holds for the next.
    if (reason === 'person') await setLatch(directory.latch, clock.wall());
    throw error;
  });
  if (pid === null) {
    if (reason === 'person') await setLatch(directory.latch, clock.wall());
    process.stdout.write(
      reason === 'person'
        ? 'The agent was not running; it stays stopped until "rollcall-agent start".\n'
        : 'The agent was not running.\n',
    );
    return EXIT.ok;
  }
  // The lock is the last thing that a daemon gives up.
  const ended = await until(clock, PATIENCE_MS, async () => !(await exists(directory.lock)) || !isAlive(pid));
  if (!ended) throw new Told(EXIT.fault, `The agent (process ${pid}) was asked to stop and has not ended yet.`);
  process.stdout.write(
    reason === 'person' ? 'Stopped; it stays stopped until "rollcall-agent start".\n' : 'Stopped.\n',
  );
  return EXIT.ok;
};

const exists = (path: string): Promise<boolean> =>
  access(path).then(
    () => true,
    () => false,
  );

const isAlive = (pid: number): boolean => {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
};

import { SystemClock } from '@rollcall/lifetimes';
import { spawn } from 'node:child_process';
import { constants } from 'node:fs';
import { open } from 'node:fs/promises';
import { dirname } from 'node:path';
import { EXIT, Told } from '../exit-code.js';
import { clearLatch } from '../installation/latch.js';
import { openStateDirectory, type StateDirectory } from '../installation/state-directory.js';
import { DaemonBusy, LocalDaemon } from './local-daemon.js';
import { until } from './until.js';

const PATIENCE_MS = 15_000;

/** `rollcall-agent start`: clears the latch, the only command that does, and starts the daemon detached unless one runs (O7). */
export const start = async (directory: StateDirectory): Promise<number> => {
  await openStateDirectory(directory);
  const daemon = new LocalDaemon(directory);
  await clearLatch(directory.latch);
  if (await answers(daemon)) {
    process.stdout.write('The agent is running already; using that one.\n');
    return EXIT.ok;
  }
  const { O_APPEND, O_CREAT, O_NOFOLLOW, O_WRONLY } = constants;
  const log = await open(directory.log, O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW, 0o600);
  const child = spawn(
    process.execPath,
    [process.argv[1] ?? '', 'run', '--state-dir', directory.path, '--runtime-dir', dirname(directory.socket)],
    { detached: true, stdio: ['ignore', log.fd, log.fd], cwd: '/' },
  );
  let ended: number | null = null;
  child.once('exit', (code) => (ended = code ?? EXIT.fault));
  child.once('error', () => (ended = EXIT.fault));
  await until(new SystemClock(), PATIENCE_MS, async () => ended !== null || (await answers(daemon)));
  await log.close();
  // Someone else's start may have been faster: what counts is that a daemon answers.
  if (!(await answers(daemon))) throw new Told(EXIT.fault, `The agent did not come up; its log is ${directory.log}`);
  child.unref();
  process.stdout.write(`Started. Its log is ${directory.log}\n`);
  return EXIT.ok;
};

const answers = async (daemon: LocalDaemon): Promise<boolean> => {
  try {
    return (await daemon.status()) !== null;
  } catch (error) {
    if (error instanceof DaemonBusy) return false;
    throw error;
  }
};

import { readdir, readFile, readlink } from 'node:fs/promises';
import { basename } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';

const LOOK_MS = 20;

/**
 * Ends the servers that run with a configuration file, whoever started them: asks first, and kills after `patienceMs`. They are found by
 * their command lines, because a file with a process id can be missing, or be older than the process that has the number now.
 */
export const endProcessesOf = async (config: string, patienceMs: number): Promise<void> => {
  const until = performance.now() + patienceMs;
  const asked = new Set<number>();
  for (;;) {
    const running = await serversWith(config);
    if (running.length === 0) return;
    for (const pid of running) {
      if (performance.now() > until) send(pid, 'SIGKILL');
      else if (!asked.has(pid)) send(pid, 'SIGTERM');
      asked.add(pid);
    }
    await wait(LOOK_MS);
  }
};

const serversWith = async (config: string): Promise<readonly number[]> => {
  // Elsewhere than on Linux there is no such directory: then the taken port tells.
  const entries = await readdir('/proc').catch(() => []);
  const pids = entries.filter((entry) => /^\d+$/.test(entry)).map(Number);
  const ours = await Promise.all(pids.map((pid) => runsWith(pid, config)));
  return pids.filter((_, index) => ours[index]);
};

const runsWith = async (pid: number, config: string): Promise<boolean> => {
  try {
    const [program = '', ...args] = (await readFile(`/proc/${pid}/cmdline`, 'utf8')).split('\0');
    if (basename(program) !== 'nats-server' || args[0] !== '-c' || args[1] !== config) return false;
    await readlink(`/proc/${pid}/exe`); // Fails for a zombie, which is dead already.
    return true;
  } catch {
    return false;
  }
};

const send = (pid: number, signal: NodeJS.Signals): void => {
  try {
    process.kill(pid, signal);
  } catch (error) {
    // It ended meanwhile.
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
};

import { readdir, readFile } from 'node:fs/promises';

/** Of `/proc/<pid>/stat`; Linux counts a hundred of them a second, whatever the kernel's own clock. */
const MS_PER_TICK = 10;

/** User and system time of a process in milliseconds; with the children that it has already waited for where `withChildren`. */
const cpuOf = ({ utime, stime, cutime, cstime }: Stat, withChildren: boolean): number =>
  (utime + stime + (withChildren ? cutime + cstime : 0)) * MS_PER_TICK;

type Stat = {
  readonly parent: number;
  readonly utime: number;
  readonly stime: number;
  readonly cutime: number;
  readonly cstime: number;
};

const statOf = async (pid: number): Promise<Stat | null> => {
  const text = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => null);
  if (text === null) return null;
  // The name may hold spaces and brackets; what follows the last one is numbers.
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  const field = (index: number) => Number(fields[index]);
  return { parent: field(1), utime: field(11), stime: field(12), cutime: field(13), cstime: field(14) };
};

/** CPU time of one process so far, in milliseconds. @throws Error when it has ended. */
export const cpuOfProcess = async (pid: number): Promise<number> => {
  const stat = await statOf(pid);
  if (!stat) throw new Error(`Process ${pid} has ended`);
  return cpuOf(stat, false);
};

/** CPU time of a process and its children, those that have ended included; a PostgreSQL server has one child per connection. */
export const cpuOfFamily = async (pid: number): Promise<number> => {
  const pids = (await readdir('/proc')).map(Number).filter((number) => Number.isInteger(number));
  const stats = await Promise.all(pids.map(statOf));
  const parent = await statOf(pid);
  if (!parent) throw new Error(`Process ${pid} has ended`);
  return stats
    .filter((stat): stat is Stat => stat?.parent === pid)
    .reduce((sum, stat) => sum + cpuOf(stat, false), cpuOf(parent, true));
};

/** Resident memory of a process, in megabytes. */
export const residentMegabytes = async (pid: number): Promise<number> => {
  const status = await readFile(`/proc/${pid}/status`, 'utf8');
  return Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1]) / 1_024;
};

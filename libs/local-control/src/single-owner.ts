import { randomUUID } from 'node:crypto';
import { link, readFile, rename, unlink, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';

/** A process, so that a number that was given to another one after a restart is not taken for it. */
type Owner = { readonly pid: number; readonly started: string; readonly nonce: string };

/** What `SingleOwner.take` holds. */
export type Ownership = {
  /** Gives the directory up. Idempotent. */
  release(): Promise<void>;
};

/**
 * Makes this process the only owner of a lock file, or says that another one is alive; so a second start finds the first (O7).
 *
 * The file is put in place whole (`link`). One whose process is gone and whose socket refuses is taken over: it is moved aside first and
 * looked at again there, so of two that find it stale only one removes it.
 *
 * @param socketPath where the owner listens; null: it listens nowhere, and its process alone says whether it lives
 * @returns null when a living process owns it
 */
export const takeOwnership = async (lockPath: string, socketPath: string | null): Promise<Ownership | null> => {
  const self: Owner = { pid: process.pid, started: (await startOf(process.pid)) ?? '', nonce: randomUUID() };
  const own = `${lockPath}.${self.nonce}`;
  try {
    await writeFile(own, JSON.stringify(self), { mode: 0o600, flag: 'wx' });
    for (let round = 0; round < 10; round += 1) {
      if (await linked(own, lockPath)) {
        // Whoever was here before us is proven gone: a socket that is left is nobody's.
        if (socketPath !== null) await unlinkIfThere(socketPath);
        return { release: () => releaseIfOurs(lockPath, self.nonce) };
      }
      const owner = await ownerOf(lockPath);
      if (owner === 'gone') continue;
      if ((await isAlive(owner)) || (socketPath !== null && (await answers(socketPath)))) return null;
      await moveAside(lockPath, owner);
    }
    throw new Error(`${lockPath} keeps changing hands`);
  } finally {
    await unlinkIfThere(own);
  }
};

const linked = async (from: string, to: string): Promise<boolean> => {
  try {
    await link(from, to);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
};

/** An unreadable lock is nobody's: a power cut can leave an empty one, and no living process does. */
const ownerOf = async (lockPath: string): Promise<Owner | null | 'gone'> => {
  try {
    const parsed: unknown = JSON.parse(await readFile(lockPath, 'utf8'));
    return typeof parsed === 'object' && parsed !== null && 'nonce' in parsed ? (parsed as Owner) : null;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ENOENT' ? 'gone' : null;
  }
};

const isAlive = async (owner: Owner | null): Promise<boolean> => {
  if (!owner || !Number.isSafeInteger(owner.pid) || owner.pid <= 0) return false;
  try {
    process.kill(owner.pid, 0);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EPERM') return false;
  }
  const started = await startOf(owner.pid);
  return started === null || owner.started === '' || started === owner.started;
};

/** Boot and start time of a process, where the system tells (Linux); null where it does not. */
const startOf = async (pid: number): Promise<string | null> => {
  try {
    const [boot, stat] = await Promise.all([
      readFile('/proc/sys/kernel/random/boot_id', 'utf8'),
      readFile(`/proc/${pid}/stat`, 'utf8'),
    ]);
    // The second field is a name that may hold anything; what follows its last parenthesis does not.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return `${boot.trim()}/${fields[19] ?? ''}`;
  } catch {
    return null;
  }
};

/** Whether something accepts connections there: the living owner may be in another process namespace, where its number means nothing. */
const answers = (socketPath: string): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect(socketPath);
    socket.once('connect', () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', () => resolve(false));
  });

const moveAside = async (lockPath: string, judged: Owner | null): Promise<void> => {
  const aside = `${lockPath}.${randomUUID()}`;
  try {
    await rename(lockPath, aside);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return;
    throw error;
  }
  const moved = await ownerOf(aside);
  const another = moved !== 'gone' && moved?.nonce !== judged?.nonce;
  if (another) await linked(aside, lockPath);
  await unlinkIfThere(aside);
};

const releaseIfOurs = async (lockPath: string, nonce: string): Promise<void> => {
  const owner = await ownerOf(lockPath);
  if (owner !== null && owner !== 'gone' && owner.nonce === nonce) await unlinkIfThere(lockPath);
};

const unlinkIfThere = async (path: string): Promise<void> => {
  try {
    await unlink(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
};

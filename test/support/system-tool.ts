import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

const run = promisify(execFile);

/**
 * Makes sure that a program of the system is there. As root it is installed with apt; nobody's test is skipped in silence.
 *
 * @param packageName its Debian package (Default: the program's name)
 * @throws Error that says what to install.
 */
export const requireSystemTool = async (program: string, packageName = program): Promise<void> => {
  if (await isThere(program)) return;
  if (process.getuid?.() !== 0) throw new Error(`This test needs ${program}: sudo apt-get install ${packageName}`);
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  try {
    await run('apt-get', ['update', '-qq'], { env });
    await run('apt-get', ['install', '-y', '-qq', '--no-install-recommends', packageName], { env });
  } catch (cause) {
    throw new Error(`This test needs ${program}, and apt-get could not install it`, { cause });
  }
};

const isThere = (program: string): Promise<boolean> =>
  run('sh', ['-c', 'command -v "$1"', 'sh', program]).then(
    () => true,
    () => false,
  );

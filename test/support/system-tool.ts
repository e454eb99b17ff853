import { execFile } from 'node:child_process';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
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
    // One at a time: apt gives up where another test file is installing something.
    await run('flock', [INSTALLING, 'sh', '-c', INSTALL, 'sh', program, packageName], { env });
  } catch (cause) {
    throw new Error(`This test needs ${program}, and apt-get could not install it`, { cause });
  }
};

const INSTALLING = join(tmpdir(), 'rollcall-apt.lock');
const INSTALL = `command -v "$1" || {
  apt-get update -qq && apt-get install -y -qq --no-install-recommends -o DPkg::Lock::Timeout=120 "$2"
}`;

const isThere = (program: string): Promise<boolean> =>
  run('sh', ['-c', 'command -v "$1"', 'sh', program]).then(
    () => true,
    () => false,
  );

import { execFile } from 'node:child_process';
import { chmod, mkdir, mkdtemp, open, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { requireRoot } from './as-root.js';

const run = promisify(execFile);

/** Mounts a file system of that many bytes, which goes with `begun`. @throws Error where this user may not mount */
export const smallVolume = async (begun: AsyncDisposableStack, bytes: number): Promise<string> => {
  requireRoot('mounts a small file system');
  const directory = await mkdtemp(join(tmpdir(), 'rollcall-volume-'));
  begun.defer(() => rm(directory, { recursive: true }));
  await chmod(directory, 0o711);
  const volume = join(directory, 'small');
  await mkdir(volume);
  await run('mount', ['-t', 'tmpfs', '-o', `size=${bytes}`, 'tmpfs', volume]);
  begun.defer(async () => {
    await run('umount', [volume]);
  });
  return volume;
};

/** Adds to a file until nothing fits any more. */
export const fill = async (path: string): Promise<void> => {
  await using file = await open(path, 'a');
  for (const bytes of [1_048_576, 4_096])
    for (;;) {
      const isWritten = await file.write(Buffer.alloc(bytes)).then(
        () => true,
        (error: NodeJS.ErrnoException) => {
          if (error.code !== 'ENOSPC') throw error;
          return false;
        },
      );
      if (!isWritten) break;
    }
};

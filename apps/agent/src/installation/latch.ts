import { readPrivateFile, removePrivateFile, writePrivateFile } from '@rollcall/secret-file';

/** Since when a person wants this agent stopped: RFC 3339, or null. A latch that cannot be read is one (O7). */
export const latchedSince = async (path: string): Promise<string | null> => {
  try {
    return (await readPrivateFile(path, 256))?.toString('utf8').trim() ?? null;
  } catch {
    return 'an unknown time';
  }
};

/** Durable before anybody is told. */
export const setLatch = (path: string, wall: number): Promise<void> =>
  writePrivateFile(path, `${new Date(wall).toISOString()}\n`);

/** Only an explicit start calls this. */
export const clearLatch = (path: string): Promise<void> => removePrivateFile(path);

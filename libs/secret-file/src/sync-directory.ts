import { open } from 'node:fs/promises';

/** Makes the names in a directory durable. */
export const syncDirectory = async (path: string): Promise<void> => {
  const handle = await open(path, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
};

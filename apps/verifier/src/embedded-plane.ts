import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

/** A connection string for the embedded database of a plane that runs on this data directory. @throws Error when none runs there. */
export const embeddedDatabase = async (data: string): Promise<string> => {
  const directory = join(data, 'postgres');
  try {
    const password = await readFile(join(directory, 'password'), 'utf8');
    const [, , , port = ''] = (await readFile(join(directory, 'data', 'postmaster.pid'), 'utf8')).split('\n');
    return `postgres://postgres:${password}@127.0.0.1:${port.trim()}/rollcall`;
  } catch (cause) {
    throw new Error(`No plane runs on ${data}: start it with npm start -- --data ${data}`, { cause });
  }
};

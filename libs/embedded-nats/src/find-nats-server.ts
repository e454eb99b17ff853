import { execFile } from 'node:child_process';
import { access, constants } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** Where packages and people put it; an administrator's directory is not on everybody's path. */
const USUAL_PLACES = ['/usr/sbin', '/usr/local/bin', '/usr/local/sbin'];

/** A nats-server on this machine. */
export type NatsServer = {
  readonly path: string;
  /** As it says itself, for example `2.9.10`. */
  readonly version: string;
};

/**
 * Looks for a nats-server: the program that `ROLLCALL_NATS_SERVER` names, else the first on `PATH` and in the usual places.
 *
 * @returns null when there is none
 * @throws Error when the program that was named is not one
 */
export const findNatsServer = async (
  environment: Readonly<Record<string, string | undefined>>,
): Promise<NatsServer | null> => {
  const named = environment['ROLLCALL_NATS_SERVER'];
  if (named) {
    const version = await versionOf(named);
    if (version === null) throw new Error(`ROLLCALL_NATS_SERVER names ${named}, which is not a nats-server`);
    return { path: named, version };
  }
  const directories = (environment['PATH'] ?? '').split(delimiter).filter((directory) => directory.startsWith('/'));
  for (const directory of new Set([...directories, ...USUAL_PLACES])) {
    const path = join(directory, 'nats-server');
    const version = await versionOf(path);
    if (version !== null) return { path, version };
  }
  return null;
};

const versionOf = async (path: string): Promise<string | null> => {
  try {
    await access(path, constants.X_OK);
    const { stdout } = await run(path, ['--version'], { timeout: 5_000 });
    return /^nats-server: v(\S+)/.exec(stdout)?.[1] ?? null;
  } catch {
    return null;
  }
};

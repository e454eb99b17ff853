import { access, readFile } from 'node:fs/promises';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import { Probe } from './probe.js';

/**
 * Who ends a process of this user, by its control groups (the text of `/proc/self/cgroup`): `login` with the session that it was started
 * in, `user-manager` with the user's own service manager, which ends at logout unless the account lingers; else null.
 */
export const boundTo = (cgroups: string, uid: number): 'login' | 'user-manager' | null => {
  const groups = cgroups.split('\n').flatMap((line) => line.split('/'));
  if (groups.includes(`user@${uid}.service`)) return 'user-manager';
  return groups.some((group) => /^session-.+\.scope$/.test(group)) ? 'login' : null;
};

/** Whose agent this is. */
export type Account = { readonly uid: number; readonly username: string };

/** Where things are; tests have others. */
export type LogoutPlaces = {
  /** There exactly where systemd is the init system. */
  readonly systemd: string;
  readonly cgroups: string;
  /** Holds an empty file per account that lingers. */
  readonly linger: string;
};

const PLACES: LogoutPlaces = {
  systemd: '/run/systemd/system',
  cgroups: '/proc/self/cgroup',
  linger: '/var/lib/systemd/linger',
};

/** Whether the agent ends when its user logs out: up, but not for long (O14). */
export class LogoutProbe extends Probe {
  override readonly codes = ['stops-at-logout'];
  readonly #account: () => Account;
  readonly #places: LogoutPlaces;

  constructor(account: () => Account = userInfo, places = PLACES) {
    super();
    this.#account = account;
    this.#places = places;
  }

  override async probe(): Promise<readonly string[]> {
    const { systemd, cgroups, linger } = this.#places;
    if (!(await isThere(systemd))) return [];
    const { uid, username } = this.#account();
    const bond = boundTo(await readFile(cgroups, 'utf8'), uid);
    if (bond === null) return [];
    const stays = bond === 'user-manager' && (await isThere(join(linger, username)));
    return stays ? [] : this.codes;
  }
}

const isThere = (path: string): Promise<boolean> =>
  access(path).then(
    () => true,
    (error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return false;
      throw error;
    },
  );

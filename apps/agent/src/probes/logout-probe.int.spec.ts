import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { LogoutProbe, type LogoutPlaces } from './logout-probe.js';

let root: string;
let places: LogoutPlaces;

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'logout-'));
  places = { systemd: join(root, 'systemd'), cgroups: join(root, 'cgroup'), linger: join(root, 'linger') };
  await Promise.all([mkdir(places.systemd), mkdir(places.linger)]);
});
afterEach(() => rm(root, { recursive: true, force: true }));

const probeIn = async (cgroups: string) => {
  await writeFile(places.cgroups, `0::${cgroups}\n`);
  return new LogoutProbe(() => ({ uid: 1_000, username: 'ada' }), places).probe();
};
const USER_MANAGER = '/user.slice/user-1000.slice/user@1000.service/app.slice/rollcall-agent.service';
const LOGIN = '/user.slice/user-1000.slice/session-3.scope';

describe('an agent', () => {
  it('under its user’s service manager stops at logout unless the account lingers (O14)', async () => {
    await writeFile(join(places.linger, 'bob'), '');
    expect(await probeIn(USER_MANAGER)).toEqual(['stops-at-logout']);
    await writeFile(join(places.linger, 'ada'), '');
    expect(await probeIn(USER_MANAGER)).toEqual([]);
  });

  it('stops at logout where no account ever lingered, so that not even the directory is there (O14)', async () => {
    await rm(places.linger, { recursive: true });
    expect(await probeIn(USER_MANAGER)).toEqual(['stops-at-logout']);
  });

  it('in a login session is bound to it, also when the account lingers (O14)', async () => {
    await writeFile(join(places.linger, 'ada'), '');
    expect(await probeIn(LOGIN)).toEqual(['stops-at-logout']);
  });

  it('as a service of the system, or without systemd, has nothing to say (O14)', async () => {
    expect(await probeIn('/system.slice/rollcall-agent.service')).toEqual([]);
    await rm(places.systemd, { recursive: true });
    expect(await probeIn(USER_MANAGER)).toEqual([]);
  });

  it('does not know when its account has no name', async () => {
    await writeFile(places.cgroups, `0::${USER_MANAGER}\n`);
    const nameless = () => {
      throw new Error('ENOENT: no such user');
    };
    await expect(new LogoutProbe(nameless, places).probe()).rejects.toThrow('no such user');
  });
});

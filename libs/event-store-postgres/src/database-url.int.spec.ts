import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { chmod, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readConfig } from '@rollcall/settings';
import { readDatabaseUrl } from './index.js';

const PASSWORD = 'a:b/c@d%20e?';
let directory: string;
const path = (name: string) => join(directory, name);

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'password-'));
  await writeFile(path('password'), `${PASSWORD}\n`, { mode: 0o600 });
  await writeFile(path('empty'), '\n', { mode: 0o600 });
  await writeFile(path('open'), PASSWORD);
  await chmod(path('open'), 0o640);
  await symlink(path('password'), path('link'));
});
afterAll(() => rm(directory, { recursive: true, force: true }));

const read = (url: string, file = '') =>
  readConfig({ ROLLCALL_DATABASE_URL: url, ROLLCALL_DATABASE_PASSWORD_FILE: file && path(file) }, (settings) => ({
    url: readDatabaseUrl(settings),
  })).url;

describe('the address of the database', () => {
  it('gets its password from an owner-only file, so that no environment shows it (I10)', () => {
    const url = new URL(read('postgres://rollcall_app@db:5433/rollcall?sslmode=verify-full', 'password'));
    expect(decodeURIComponent(url.password)).toBe(PASSWORD);
    expect([url.username, url.host, url.pathname, url.search]).toEqual([
      'rollcall_app',
      'db:5433',
      '/rollcall',
      '?sslmode=verify-full',
    ]);
  });

  it('stays as it is without such a file', () =>
    expect(read('postgresql://u:p@db/rollcall')).toBe('postgresql://u:p@db/rollcall'));

  it.each([
    ['a file that others can read', 'postgres://u@db/r', 'open', /open can be read or written by others/],
    ['a link to a file', 'postgres://u@db/r', 'link', /ELOOP/],
    ['a file that is not there', 'postgres://u@db/r', 'nothing', /ENOENT/],
    ['a file with nothing in it', 'postgres://u@db/r', 'empty', /there is nothing in/],
    ['a password in both places', 'postgres://u:hunter2@db/r', 'password', /set one of them/],
    ['an address that has no place for it', 'postgres:///r?host=/run', 'password', /names no host/],
    ['an address that is none', 'mysql://db/r', 'password', /is not a URL/],
  ])('refuses %s, and repeats no password (I10)', (_, url, file, problem) => {
    const reading = () => read(url, file);
    expect(reading).toThrow(problem);
    expect(reading).not.toThrow(/hunter2|a:b/);
  });
});

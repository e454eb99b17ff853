import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { installState } from '../../infra/ensure-installed.mjs';

describe('the state of an installation', () => {
  let checkout: string;
  beforeEach(() => {
    checkout = mkdtempSync(join(tmpdir(), 'installed-'));
  });
  afterEach(() => rmSync(checkout, { recursive: true }));

  const write = (path: string, content: unknown) => {
    mkdirSync(dirname(join(checkout, path)), { recursive: true });
    writeFileSync(join(checkout, path), JSON.stringify(content));
  };
  const locked = (packages: object) => write('package-lock.json', { packages: { '': {}, ...packages } });
  const installed = (packages: object) => {
    write('node_modules/.bin/node', '');
    write('node_modules/.package-lock.json', { packages });
  };
  const a = { version: '1.0.0', resolved: 'a-1' };

  it('is absent where nothing was installed', () => {
    locked({ 'node_modules/a': a });
    expect(installState(checkout)).toBe('absent');
  });

  it('is absent where the own Node is missing, because an installation was cut off', () => {
    locked({ 'node_modules/a': a });
    write('node_modules/.package-lock.json', { packages: { 'node_modules/a': a } });
    expect(installState(checkout)).toBe('absent');
  });

  it('is fresh when all that is locked is there, and packages of other platforms are not', () => {
    locked({
      'libs/x': { version: '0.1.0' },
      'node_modules/@rollcall/x': { resolved: 'libs/x', link: true },
      'node_modules/a': a,
      'node_modules/for-windows': { version: '1.0.0', optional: true },
    });
    installed({ 'node_modules/@rollcall/x': { resolved: 'libs/x', link: true }, 'node_modules/a': a });
    expect(installState(checkout)).toBe('fresh');
  });

  it.each([
    ['a new package', { 'node_modules/a': a, 'node_modules/b': { version: '1.0.0' } }],
    ['another version', { 'node_modules/a': { ...a, version: '1.0.1' } }],
    ['another source of the same version', { 'node_modules/a': { ...a, resolved: 'b-1' } }],
    ['a new workspace', { 'node_modules/a': a, 'node_modules/@rollcall/y': { resolved: 'libs/y', link: true } }],
  ])('is stale after %s', (_what, packages) => {
    locked(packages);
    installed({ 'node_modules/a': a });
    expect(installState(checkout)).toBe('stale');
  });
});

import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { decodeEnrolmentToken, hashOf, isSecret } from '@rollcall/wire';
import { Plane } from '../plane/plane.js';
import { against } from '../testing/against.js';
import { admit } from './admit.js';

const ANSWER = {
  preadmission: { id: '01934f6e-0000-7000-8000-00000000000a', expiresAt: '2026-11-29T14:17:00.000Z', name: null },
  replaces: null,
  machineApi: 'https://plane:8443',
  pins: [],
};

let directory: string;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'rollcall-admit-'));
});
afterAll(() => rm(directory, { recursive: true }));

it('makes the credential here, registers its hash alone, and prints it alone on standard output (O3)', async () => {
  const { out, err, asked, failure } = await against(ANSWER, (context) => admit({ expires: 900 }, context));
  expect(failure).toBeNull();
  const { secret } = decodeEnrolmentToken(out.trim());
  expect(isSecret('rcm', secret)).toBe(true);
  expect(asked).toEqual([expect.objectContaining({ method: 'POST', path: '/v1/preadmissions' })]);
  expect(asked[0]?.body).toMatchObject({ credentialHash: hashOf(secret), node: null, expiresIn: 900 });
  expect(JSON.stringify(asked) + err).not.toContain(secret);
});

it('puts it into a new file that only its owner reads, and nowhere else (O6)', async () => {
  const out = join(directory, 'hut');
  const told = await against(ANSWER, (context) => admit({ expires: 900, out }, context), true);
  const text = await readFile(out, 'utf8');
  const { secret } = decodeEnrolmentToken(text);
  expect(((await stat(out)).mode & 0o777).toString(8)).toBe('600');
  expect(told.out + told.err).not.toContain(secret);
  expect(told.out).not.toContain(text.trim());
});

it('registers nothing where the file is there already, and leaves none where nothing was registered', async () => {
  const there = join(directory, 'there');
  await writeFile(there, 'mine');
  const refused = await against(ANSWER, (context) => admit({ expires: 900, out: there }, context));
  expect([refused.failure, refused.asked]).toEqual([expect.any(Error), []]);
  expect(await readFile(there, 'utf8')).toBe('mine');
  const out = join(directory, 'never');
  const away = () => Promise.reject(new Error('away'));
  const failed = await against(ANSWER, (context) => {
    const plane = new Plane('https://plane', away, 'rco_');
    return admit({ expires: 900, out }, { ...context, plane: () => Promise.resolve(plane) });
  });
  expect(failed.failure).toBeInstanceOf(Error);
  await expect(stat(out)).rejects.toThrow('ENOENT');
});

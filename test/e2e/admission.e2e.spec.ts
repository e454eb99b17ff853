import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it, jest } from '@jest/globals';
import type { History, MachineDetail, MachineList } from '@rollcall/wire';
import { eventually } from '../support/processes.js';
import { startPlane, type ProcessPlane } from '../support/plane.js';

jest.setTimeout(120_000);

let plane: ProcessPlane;
beforeAll(async () => {
  plane = await startPlane();
  expect((await plane.signIn(await plane.link())).code).toBe(0);
});
afterAll(() => plane.close());

const cli = async (...args: string[]): Promise<string> => {
  const { code, stdout, output } = await plane.cli(...args);
  expect([code, output]).toEqual([0, output]);
  return stdout;
};
const json = async <Document>(...args: string[]): Promise<Document> =>
  JSON.parse(await cli(...args, '--json')) as Document;

/** The id of the machine of this name that lives, as soon as the read model shows one other than `before`. */
const livingForge = async (before?: string): Promise<string> => {
  let id: string | undefined;
  await eventually('the read model shows it', async () => {
    const { machines } = await json<MachineList>('machines', 'list', '--name', 'forge');
    id = machines.find((machine) => machine.id !== before)?.id;
    return id !== undefined && machines.length === 1;
  });
  return id ?? '';
};

it('lets an installation in that shows a code, and gives its node the next machine by a token, with its name and labels (O12, N19, U6)', async () => {
  const { url, pins } = plane.machineApi;
  const waiting = await plane.startAgent('first', ['enrol', '--code', url, '--pin', ...pins]);
  const [, code = ''] = await waiting.waitFor(/Code: ([A-Z]{4}-[A-Z]{4})/);
  expect(await cli('codes', 'show', code.toLowerCase())).toContain('which proves nothing');
  await cli('codes', 'approve', code, '--name', 'forge', '--yes');
  expect(await waiting.exited).toEqual({ code: 0, signal: null });
  expect(waiting.output()).toContain('Enrolled as forge');
  const before = await livingForge();
  await cli('machines', 'label', before, 'rack=b7');

  const token = await cli('token', 'issue', '--node', 'forge', '--yes');
  const enrolled = await plane.agent('second', ['enrol'], token);
  expect([enrolled.code, enrolled.output]).toEqual([0, expect.stringContaining('Enrolled as forge')]);
  const next = await livingForge(before);
  expect((await json<MachineDetail>('machines', 'show', next)).machine.labels).toEqual({ rack: 'b7' });
  expect((await json<MachineDetail>('machines', 'show', before)).machine.lifecycle).toBe('deleted');
  const { entries } = await json<History>('history', next);
  expect(JSON.stringify(entries)).toContain(`in place of machine ${before}`);
});

it('admits a machine over SSH by a credential that the tool has made, and nobody approves anything there (O3, U4)', async () => {
  const file = join(plane.directory, 'hut.credential');
  expect(await cli('admit', '--name', 'hut', '--out', file)).toBe('');
  const enrolled = await plane.agent('hut', ['enrol'], await readFile(file, 'utf8'));
  expect([enrolled.code, enrolled.output]).toEqual([0, expect.stringContaining('Enrolled as hut')]);
  // The answer was lost: the same again is the same machine.
  const again = await plane.agent('hut', ['enrol'], await readFile(file, 'utf8'));
  expect([again.code, again.output]).toEqual([0, expect.stringContaining('Enrolled as hut')]);
  await eventually('the read model shows it', async () => {
    const { machines } = await json<MachineList>('machines', 'list', '--name', 'hut');
    return machines.length === 1;
  });
  const account = await cli('history', 'hut', '--credentials');
  expect(account).toMatch(/admitted by Ada with a credential that was registered beforehand as "hut"/);
  expect(account).toMatch(/\n1 .*it stands/);
});

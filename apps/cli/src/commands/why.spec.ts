import { expect, it } from '@jest/globals';
import type { Why } from '@rollcall/wire';
import { against } from '../testing/against.js';
import { machineView } from '../testing/machine.js';
import { explain } from './why.js';

const why: Why = {
  asOf: '2026-11-29T14:05:00.000Z',
  behind: false,
  machine: machineView(),
  sentence: 'absent since 14:02:03Z',
  basis: [
    { kind: 'event', at: '2026-11-29T09:00:00.000Z', revision: 1, type: 'MachineAdmitted' },
    { kind: 'check', at: '2026-11-29T14:00:03.000Z', revision: 9, said: 'running' },
    { kind: 'not-observed', at: '2026-11-29T14:00:30.000Z', until: '2026-11-29T14:01:00.000Z' },
  ],
};

it('says in one sentence why a machine is what it is, and lists what that rests on (B5)', async () => {
  const { out, err, asked } = await against(why, (context) => explain('box', {}, context));
  expect(asked).toMatchObject([{ method: 'GET', path: '/v1/machines/box/why' }]);
  expect(out.split('\n')).toEqual([
    'build-box: absent since 14:02:03Z.',
    '  2026-11-29 09:00:00Z  MachineAdmitted (revision 1)',
    '  2026-11-29 14:00:03Z  the last check, which said running (revision 9)',
    '  2026-11-29 14:00:30Z  not observed until 2026-11-29 14:01:00Z',
    '',
  ]);
  expect(err).toBe('');
});

it('asks about a time of the past, says which one was answered, and gives scripts all of it (B5)', async () => {
  const at = '2026-11-29T14:05:03.000Z';
  const { err, asked } = await against(why, (context) => explain('box', { at }, context));
  expect(asked[0]?.path).toBe('/v1/machines/box/why?at=2026-11-29T14%3A05%3A03.000Z');
  expect(err).toBe('As of 2026-11-29 14:05:00Z, in the past.\n');
  expect(JSON.parse((await against(why, (context) => explain('box', { at }, context), true)).out)).toEqual(why);
});

import { describe, expect, it } from '@jest/globals';
import { EXIT } from './failure.js';
import { run } from './run.js';
import { captured } from './testing/captured.js';

describe('a word that can name nothing', () => {
  it.each([
    ['an empty machine', ['machines', 'show', ''], 'It is empty.'],
    ['a machine that is longer than any name', ['history', 'n'.repeat(65)], 'longer than any id and any name'],
    ['a machine whose readiness nobody can name', ['readiness', ''], 'It is empty.'],
    ['more episodes than there can be', ['readiness', 'x', '--limit', '501'], 'from 1 to 500'],
    ['what is no code of a blocker', ['machines', '--blocker', 'Disk full'], 'such as disk-full'],
    ['a pause without a note', ['machines', 'pause', 'x'], '--note'],
    [
      'a pause with two ends',
      ['machines', 'pause', 'x', '--note', 'n', '--for', '2h', '--until', '2027-01-01'],
      '--until',
    ],
    ['a pause until no time', ['machines', 'pause', 'x', '--note', 'n', '--until', 'noon'], 'must be a time such as'],
    ['a pause that is too short', ['machines', 'pause', 'x', '--note', 'n', '--for', '5s'], 'from 1m to 365d'],
    ['what is no label', ['machines', 'label', 'x', 'Site=north'], 'must be KEY=VALUE'],
    ['a change of no label', ['machines', 'label', 'x'], 'give labels as KEY=VALUE, or --remove KEY'],
    ['a filter that is no label', ['machines', '--label', 'Site'], 'must be KEY=VALUE'],
    ['a promise about nothing', ['promises', 'set', 'always'], '--machine MACHINE, or --label KEY=VALUE'],
    ['a promise about two things', ['promises', 'set', 'always', '--machine', 'x', '--label', 'a=b'], '--label'],
    ['a promise without a schedule', ['promises', 'set', '--machine', 'x'], 'schedule'],
    ['a time of the past that is none', ['why', 'x', '--at', 'noon'], 'must be a time such as'],
    ['an empty read model', ['read-models', 'rebuild', ''], 'It is empty.'],
  ])('%s is wrong usage, and no plane is asked (U6)', async (_, argv, words) => {
    const surroundings = captured({ env: { ROLLCALL_CONFIG_DIR: '/nobody/is/signed/in' } });
    expect(await run(argv, surroundings)).toBe(EXIT.usage);
    expect(surroundings.printed).toEqual({ out: '', err: expect.stringContaining(words) });
  });

  it('a name of 64 characters of any length is none (O24)', async () => {
    const surroundings = captured({ env: { ROLLCALL_CONFIG_DIR: '/nobody/is/signed/in' } });
    expect(await run(['machines', 'show', '👩'.repeat(64)], surroundings)).toBe(EXIT.notSignedIn);
  });
});

it('the help says how long an enrolment token lasts as a person would', async () => {
  const surroundings = captured({ env: {} });
  expect(await run(['token', 'issue', '--help'], surroundings)).toBe(EXIT.done);
  expect(surroundings.printed.out).toMatch(/\(default:\s+15m\)/);
});

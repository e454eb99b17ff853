import { describe, expect, it } from '@jest/globals';
import { against } from '../testing/against.js';
import { listPromises, makePromise, withdrawPromise } from './promises.js';

const machine = { id: 'm1', name: 'box' };
const schedule = 'weekdays 09:00-18:00 Europe/Berlin';

describe('promises', () => {
  it('are listed with what they are for, and whether they promise anything now (N11)', async () => {
    const promises = [
      { selector: 'label:site=berlin', schedule, machine: null, promisedNow: false },
      { selector: 'node:n1', schedule: 'always', machine, promisedNow: true },
    ];
    const { out, asked } = await against({ promises }, listPromises);
    expect(asked).toMatchObject([{ method: 'GET', path: '/v1/promises' }]);
    expect(out).toMatch(/label:site=berlin +weekdays 09:00-18:00 Europe\/Berlin +not promised\n/);
    expect(out).toMatch(/box \(m1\) +always +promised\n/);
    expect(JSON.parse((await against({ promises }, listPromises, true)).out)).toEqual({ promises });
    expect((await against({ promises: [] }, listPromises)).out).toMatch(/^Nothing is promised/);
  });

  it('are made and taken back for a machine or a label, under an id that is kept (N11)', async () => {
    const made = { promise: { selector: 'node:n1', schedule } };
    const { out, asked } = await against(made, (context) =>
      makePromise(schedule.split(' '), { machine: 'box' }, context),
    );
    const commandId = expect.any(String);
    expect(asked).toMatchObject([
      { method: 'PUT', path: '/v1/promises', body: { commandId, machine: 'box', schedule } },
    ]);
    expect(out).toBe(`Promised for node:n1: ${schedule}\n`);
    const gone = { promise: { selector: 'label:site=berlin', schedule: null } };
    const taken = await against(gone, (context) => withdrawPromise({ label: 'site=berlin' }, context));
    expect(taken.asked).toMatchObject([{ method: 'DELETE', body: { commandId, label: 'site=berlin' } }]);
    expect(taken.out).toBe('Nothing is promised for label:site=berlin.\n');
  });

  it('are about something', async () =>
    expect(await against({}, (context) => makePromise(['always'], {}, context))).toMatchObject({
      asked: [],
      failure: { message: expect.stringContaining('--machine MACHINE, or --label'), exitCode: 2 },
    }));
});

import { describe, expect, it } from '@jest/globals';
import type { MachineList, MachineView } from '@rollcall/wire';
import type { Context } from '../context.js';
import { Interrupted } from '../failure.js';
import { Output } from '../output/output.js';
import { Plane } from '../plane/plane.js';
import type { Transport } from '../plane/transport.js';
import { SessionFile } from '../session/session-file.js';
import { captured } from '../testing/captured.js';
import { machineView } from '../testing/machine.js';
import { changesBetween, watchMachines } from './watch-machines.js';

const known = (...machines: MachineView[]) => new Map(machines.map((machine) => [machine.id, machine]));
const asOf = '2026-11-29T14:02:12.000Z';

describe('changesBetween', () => {
  it('tells what is new, what is different and what is gone', () => {
    const other = machineView({ id: 'other' });
    const absent = machineView({ presence: 'absent', lifecycle: 'unknown' });
    expect(changesBetween(known(), { asOf, machines: [other] })).toEqual([{ change: 'seen', asOf, machine: other }]);
    expect(changesBetween(known(machineView()), { asOf, machines: [absent] })).toEqual([
      { change: 'changed', asOf, machine: absent },
    ]);
    expect(changesBetween(known(other), { asOf, machines: [] })).toEqual([{ change: 'gone', asOf, machine: other }]);
  });

  it('does not call another check of a quiet machine a change', () =>
    expect(
      changesBetween(known(machineView()), {
        asOf,
        machines: [machineView({ lastCheckAt: '2026-11-29T14:02:30.000Z', revision: 8 })],
      }),
    ).toEqual([]));
});

describe('machines watch', () => {
  const list = (...machines: MachineView[]): MachineList => ({ asOf, behind: false, next: null, machines });
  const watch = async (answers: (MachineList | Error)[], json: boolean) => {
    const transport: Transport = () => {
      const answer = answers.shift();
      return answer instanceof Error ? Promise.reject(answer) : Promise.resolve({ status: 200, body: answer });
    };
    const surroundings = captured({
      pause: () => (answers.length > 0 ? Promise.resolve() : Promise.reject(new Interrupted('interrupted'))),
    });
    const context: Context = {
      surroundings,
      output: new Output(surroundings.stdout, surroundings.stderr, {}, json),
      sessions: new SessionFile('/nowhere'),
      plane: () => Promise.resolve(new Plane('https://plane', transport, 'rco_')),
      planeAt: () => new Plane('https://plane', transport, null),
    };
    await expect(watchMachines({}, context)).rejects.toThrow(Interrupted);
    return surroundings.printed;
  };

  it('prints one JSON object per change and line (U6)', async () => {
    const { out } = await watch(
      [list(machineView()), list(machineView()), list(machineView({ presence: 'absent' }))],
      true,
    );
    const lines = out
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as { change: string; machine: MachineView });
    expect(lines.map(({ change, machine }) => [change, machine.presence])).toEqual([
      ['seen', 'present'],
      ['changed', 'absent'],
    ]);
  });

  it('survives a plane that is away, and says so once (U6)', async () => {
    const refused = (): Error => new Error('ECONNREFUSED');
    const { out, err } = await watch(
      [list(machineView()), refused(), refused(), list(machineView({ presence: 'absent' }))],
      true,
    );
    expect(out.trimEnd().split('\n')).toHaveLength(2);
    expect(err).toBe(
      'The plane at https://plane does not answer (ECONNREFUSED). Still watching.\nThe plane answers again.\n',
    );
  });
});

import { Readable } from 'node:stream';
import { describe, expect, it } from '@jest/globals';
import type { MachineList, MachineView } from '@rollcall/wire';
import type { Context } from '../context.js';
import { Interrupted } from '../failure.js';
import { Output } from '../output/output.js';
import { Plane } from '../plane/plane.js';
import type { StreamTransport, Transport } from '../plane/transport.js';
import { SessionFile } from '../session/session-file.js';
import { captured } from '../testing/captured.js';
import { machineView } from '../testing/machine.js';
import type { Filter } from './machines.js';
import { changeOf, changesBetween, isListed, watchMachines, type Watched } from './watch-machines.js';

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

describe('changeOf', () => {
  const later = '2026-11-29T14:03:00.000Z';
  const watched = (...machines: MachineView[]): Watched => ({ asOf, machines: known(...machines) });
  const absent = machineView({ presence: 'absent', lifecycle: 'unknown', revision: 9 });

  it('tells what is new, what is different, and what does not belong to what is watched any more', () => {
    expect(changeOf(watched(), { asOf: later, machine: absent }, {})?.change).toBe('seen');
    expect(changeOf(watched(machineView()), { asOf: later, machine: absent }, {})?.change).toBe('changed');
    expect(changeOf(watched(machineView()), { asOf: later, machine: absent }, { presence: 'present' })?.change).toBe(
      'gone',
    );
    expect(changeOf(watched(), { asOf: later, machine: absent }, { presence: 'present' })).toBeNull();
  });

  it('passes over what the list knew already', () => {
    expect(changeOf(watched(), { asOf: '2026-11-29T14:02:11.000Z', machine: absent }, {})).toBeNull();
    expect(changeOf(watched(absent), { asOf: later, machine: machineView({ revision: 8 }) }, {})).toBeNull();
    expect(changeOf(watched(absent), { asOf: later, machine: { ...absent, revision: 10 } }, {})).toBeNull();
  });
});

describe('isListed', () => {
  const blocker = { code: 'disk-full', since: asOf, sentence: '', fix: '', blocksWork: true };
  const machine = machineView({ blockers: [blocker], labels: { site: 'berlin', odd: 'a=b' } });

  it.each<[Filter, boolean]>([
    [{}, true],
    [{ name: 'BUILD' }, true],
    [{ name: '10-0-0' }, true],
    [{ name: 'other' }, false],
    [{ presence: 'absent' }, false],
    [{ blocker: 'disk-full' }, true],
    [{ blocker: 'clock-wrong' }, false],
    [{ blocked: true }, true],
    [{ label: 'site' }, true],
    [{ label: 'site=berlin' }, true],
    [{ label: 'site=paris' }, false],
    [{ label: 'odd=a=b' }, true],
    [{ label: 'toString' }, false],
  ])('lists under %j what the plane would list: %s', (filter, listed) =>
    expect(isListed(machine, filter)).toBe(listed),
  );

  it('lists who is deleted only where that is asked for', () => {
    const deleted = machineView({ deletedAt: asOf });
    expect([isListed(deleted, {}), isListed(deleted, { deleted: true })]).toEqual([false, true]);
    expect(isListed({ ...machine, presence: 'absent' }, { blocked: true })).toBe(false);
  });
});

describe('machines watch', () => {
  const list = (...machines: MachineView[]): MachineList => ({ asOf, behind: false, next: null, machines });
  const event = (name: string, data: object, id?: string): string =>
    `${id === undefined ? '' : `id: ${id}\n`}event: ${name}\ndata: ${JSON.stringify(data)}\n\n`;
  const absent = (revision: number) => ({
    asOf: '2026-11-29T14:04:00.000Z',
    machine: machineView({ presence: 'absent', lifecycle: 'unknown', sentence: 'absent', revision }),
  });

  /** Watches through streams, each a text or a failure, until there are no more of them. */
  const watch = async (streams: (string | Error)[], options: { json?: boolean; terminal?: boolean } = {}) => {
    const places: (string | null)[] = [];
    const transport: Transport = () => Promise.resolve({ status: 200, body: list(machineView()) });
    const stream: StreamTransport = ({ lastEventId }) => {
      places.push(lastEventId);
      const next = streams.shift();
      // Cut anywhere, as a network does.
      const text = Readable.from(
        next instanceof Error ? [] : (next ?? '').match(/[^]{1,7}/g)!,
      ) as AsyncIterable<string>;
      return next instanceof Error ? Promise.reject(next) : Promise.resolve({ status: 200, text });
    };
    const surroundings = captured({
      terminal: options.terminal ?? false,
      pause: () => (streams.length > 0 ? Promise.resolve() : Promise.reject(new Interrupted('interrupted'))),
    });
    const context: Context = {
      surroundings,
      output: new Output(surroundings.stdout, surroundings.stderr, { NO_COLOR: '1' }, options.json ?? false),
      sessions: new SessionFile('/nowhere'),
      plane: () => Promise.resolve(new Plane('https://plane', transport, 'rco_', stream)),
      planeAt: () => new Plane('https://plane', transport, null),
    };
    await expect(watchMachines({}, context)).rejects.toThrow(Interrupted);
    return { ...surroundings.printed, places };
  };

  it('prints one JSON object per change and line (U6, U3)', async () => {
    const { out } = await watch([event('snapshot', {}, '1') + event('change', absent(9), '2')], { json: true });
    const lines = out
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as { change: string; machine: MachineView });
    expect(lines.map(({ change, machine }) => [change, machine.presence])).toEqual([
      ['seen', 'present'],
      ['changed', 'absent'],
    ]);
  });

  it('goes on where it was after a stream has ended, without saying so, and asks anew only when it is told to (U3)', async () => {
    const { out, err, places } = await watch([
      event('snapshot', {}, '1') + event('change', absent(9), '2') + event('end', { reason: 'stopping' }),
      event('heard', { asOf, behind: false }, '3'),
      event('reset', {}, '4'),
      event('change', absent(10), '5'),
    ]);
    expect(places).toEqual([null, '2', '3', '4']);
    expect(err).toBe('');
    expect(out.trimEnd().split('\n')).toEqual([
      `${asOf} build-box: present`,
      '2026-11-29T14:04:00.000Z build-box: absent',
      `${asOf} build-box: present`,
      '2026-11-29T14:04:00.000Z build-box: absent',
    ]);
  });

  it('survives a plane that is away, and says so once (U6)', async () => {
    const refused = (): Error => new Error('ECONNREFUSED');
    const { err } = await watch([
      event('snapshot', {}, '1'),
      refused(),
      refused(),
      event('heard', { asOf, behind: true }),
      event('heard', { asOf, behind: true }),
    ]);
    expect(err).toBe(
      'The plane at https://plane does not answer (ECONNREFUSED). Still watching.\nThe plane answers again.\n' +
        'As of 2026-11-29 14:02:12Z: what came later is not shown yet.\n',
    );
  });

  it('keeps a table current on a terminal, without the last check of who is present, and leaves the terminal as it was (U3, U6)', async () => {
    const { out } = await watch([event('snapshot', {}, '1') + event('change', absent(9), '2')], { terminal: true });
    const [, first = '', second = ''] = out.split('\u001b[H\u001b[2J\u001b[3J');
    expect(first).toMatch(/build-box .* present +running +0\.1\.0 +present/);
    expect(second).toMatch(/build-box .* absent +unknown +2 min ago/);
    // Neither another screen, nor a hidden cursor.
    expect(out).not.toContain('\u001b[?');
  });
});

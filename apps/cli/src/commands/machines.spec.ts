import { describe, expect, it } from '@jest/globals';
import type { LogTailView } from '@rollcall/wire';
import { against } from '../testing/against.js';
import {
  labelMachine,
  listMachines,
  pauseMachine,
  requestLog,
  resumeMachine,
  rotateMachine,
  showLog,
} from './machines.js';

const machine = { id: 'm1', name: 'box' };
const stamp = '2026-11-29T14:02:12.000Z';
const tail = { stamp, receivedAt: '2026-11-29T14:02:40.000Z', log: 'one\ntwo \u001b[2J\n' };
const view = (changes: Partial<LogTailView>): LogTailView => ({ machine, requested: null, tail: null, ...changes });

describe('machines request-log', () => {
  it('asks under an id of its own, which it keeps over repetitions (O26)', async () => {
    const { out, asked } = await against({ machine, logTail: stamp }, (context) => requestLog('a/b', context));
    expect(asked).toMatchObject([
      { method: 'POST', path: '/v1/machines/a%2Fb/log-tail-requests', body: { commandId: expect.any(String) } },
    ]);
    expect(out).toBe('Machine m1 uploads the tail of its log after its next check.\n');
  });
});

describe('machines rotate', () => {
  it('asks under an id of its own, and says that nothing is cut before the new credential has succeeded (O19)', async () => {
    const { out, asked } = await against({ machine, rotation: stamp }, (context) => rotateMachine('a/b', context));
    expect(asked).toMatchObject([
      { method: 'POST', path: '/v1/machines/a%2Fb/rotation-requests', body: { commandId: expect.any(String) } },
    ]);
    expect(out).toMatch(/^Machine m1 takes a new credential after its next check; the old one counts/);
  });
});

describe('machines log', () => {
  const log = (answer: LogTailView, json = false) => against(answer, (context) => showLog('box', context), json);

  it('prints the lines and nothing that a terminal would obey; what is said about them goes beside (U6, O26)', async () => {
    expect(await log(view({ tail }))).toMatchObject({
      out: 'one\ntwo \\u001b[2J\n',
      err: 'Asked for at 2026-11-29 14:02:12Z, received at 2026-11-29 14:02:40Z.\n',
      failure: null,
    });
  });

  it('says that a newer one is under way', async () => {
    const { out, err } = await log(view({ tail, requested: '2026-11-29T15:00:00.000Z' }));
    expect(out).toContain('one\n');
    expect(err).toContain('Asked for at 2026-11-29 15:00:00Z; it comes after the next check of the machine.\n');
  });

  it('gives scripts the text as it came', async () =>
    expect(JSON.parse((await log(view({ tail }), true)).out)).toEqual(view({ tail })));

  it.each([
    [null, 'Nobody has asked for it: `rollcall machines request-log` does.'],
    [stamp, 'Asked for at 2026-11-29 14:02:12Z; it comes after the next check of the machine.'],
  ])('ends as not found where nothing came yet (asked for: %s)', async (requested, message) =>
    expect(await log(view({ requested }))).toMatchObject({ out: '', failure: { message, exitCode: 4 } }),
  );
});

describe('machines pause and resume', () => {
  const answer = (pause: { note: string; until: string | null } | null) => ({ machine: { id: 'm1', pause } });

  it('carry the note and the end, and tell what is in force by then', async () => {
    const { out, asked } = await against(answer({ note: 'a new disk', until: stamp }), (context) =>
      pauseMachine('box', { note: 'a new disk', for: 7_200 }, context),
    );
    expect(asked).toMatchObject([
      {
        method: 'POST',
        path: '/v1/machines/box/pause',
        body: { commandId: expect.any(String), note: 'a new disk', for: 7_200 },
      },
    ]);
    expect(out).toBe('Machine m1 is paused until 2026-11-29 14:02:12Z: a new disk\n');
  });

  it('tell of a pause without an end that a person has to end it', async () => {
    const paused = answer({ note: 'a new disk', until: null });
    const { out } = await against(paused, (context) => pauseMachine('box', { note: 'a new disk' }, context));
    expect(out).toBe('Machine m1 is paused until it is resumed: a new disk\n');
    expect(JSON.parse((await against(paused, (context) => resumeMachine('box', context), true)).out)).toEqual(paused);
  });

  it('say that none is in force', async () => {
    const { out, asked } = await against(answer(null), (context) => resumeMachine('box', context));
    expect(asked).toMatchObject([{ method: 'DELETE', path: '/v1/machines/box/pause' }]);
    expect(out).toBe('Machine m1 is not paused.\n');
  });
});

describe('machines label', () => {
  const answer = (labels: Record<string, string>) => ({ machine: { id: 'm1', labels } });

  it('sets and takes away, and tells all labels', async () => {
    const { out, asked } = await against(answer({ rack: 'b7', site: 'north' }), (context) =>
      labelMachine('box', { set: [['site', 'north']], remove: ['spare'] }, context),
    );
    expect(asked).toMatchObject([
      {
        method: 'PATCH',
        path: '/v1/machines/box/labels',
        body: { commandId: expect.any(String), set: { site: 'north' }, remove: ['spare'] },
      },
    ]);
    expect(out).toBe('Machine m1 is labelled rack=b7, site=north.\n');
  });

  it('says that none is left', async () => {
    const { out } = await against(answer({}), (context) => labelMachine('box', { set: [], remove: ['a'] }, context));
    expect(out).toBe('Machine m1 has no label.\n');
  });

  it('narrows the list', async () => {
    const list = { asOf: null, behind: false, machines: [], next: null };
    const { asked, out } = await against(list, (context) => listMachines({ label: 'a=b&c' }, context));
    expect(asked[0]?.path).toBe('/v1/machines?limit=500&label=a%3Db%26c');
    expect(out).toBe('No machine matches.\n');
  });
});

import { describe, expect, it } from '@jest/globals';
import type { LogTailView } from '@rollcall/wire';
import type { Context } from '../context.js';
import { Output } from '../output/output.js';
import { Plane } from '../plane/plane.js';
import type { Transport, TransportRequest } from '../plane/transport.js';
import { SessionFile } from '../session/session-file.js';
import { captured } from '../testing/captured.js';
import { requestLog, showLog } from './machines.js';

/** Runs a command against a plane that answers everything with one body. */
const against = async (body: unknown, command: (context: Context) => Promise<void>, json = false) => {
  const asked: TransportRequest[] = [];
  const transport: Transport = (request) => {
    asked.push(request);
    return Promise.resolve({ status: 200, body });
  };
  const surroundings = captured();
  const context: Context = {
    surroundings,
    output: new Output(surroundings.stdout, surroundings.stderr, {}, json),
    sessions: new SessionFile('/nowhere'),
    plane: () => Promise.resolve(new Plane('https://plane', transport, 'rco_')),
    planeAt: () => new Plane('https://plane', transport, null),
  };
  const failure = await command(context).then(
    () => null,
    (error: unknown) => error,
  );
  return { ...surroundings.printed, asked, failure };
};

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

import { expect, it } from '@jest/globals';
import * as entry from './index.js';
import { openPacedSessionHost, PACE, Bench } from './testing/index.js';

it('opens a session host that takes no times, by an entry that has nothing to make another one with (T-1.10)', () => {
  expect(entry.openSessionHost).toHaveLength(1);
  expect(Object.keys(entry)).not.toEqual(expect.arrayContaining([expect.stringMatching(/pace|timing|watchdog|^SessionHost$/i)]));
});

/** Never called: the compiler is the test, because each line below has to be an error. */
export const refusedByTheCompiler = (ports: entry.SessionHostPorts, host: entry.SessionHost): unknown[] => [
  // @ts-expect-error no timing among the ports
  entry.openSessionHost({ ...ports, timing: PACE.timing }),
  // @ts-expect-error no times beside them
  entry.openSessionHost(ports, PACE),
  // @ts-expect-error no timing of a single session
  host.launch({ id: 'one', farSocketPath: '/far.sock', interval: 1_000 }),
  // @ts-expect-error nor of a resumed one
  host.resume('one', { deadline: 1_000 }),
];

it('lets tests live in shorter times, by an entry of their own (T-1.10)', async () => {
  const bench = new Bench();
  expect(openPacedSessionHost).not.toBe(entry.openSessionHost);
  await bench.host.close();
});

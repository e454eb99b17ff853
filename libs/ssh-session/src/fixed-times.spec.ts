import { expect, it } from '@jest/globals';
import * as entry from './index.js';
import { PACE } from './testing/index.js';

it('opens a session host that takes no times, by an entry that has nothing to make another one with (T-1.10)', () => {
  expect(Object.keys(entry).filter((name) => /pace|timing|watchdog|^SessionHost$/i.test(name))).toEqual([]);
  expect(entry.openSessionHost).toHaveLength(1);

  // Never called: the compiler is the test, because each of these calls has to be an error.
  const refused = (ports: entry.SessionHostPorts, host: entry.SessionHost): unknown[] => [
    // @ts-expect-error no timing among the ports
    entry.openSessionHost({ ...ports, timing: PACE.timing }),
    // @ts-expect-error no times beside them
    entry.openSessionHost(ports, PACE),
    // @ts-expect-error no timing of a single session
    host.launch({ id: 'one', farSocketPath: '/far.sock', interval: 1_000 }),
    // @ts-expect-error nor of a resumed one
    host.resume('one', { deadline: 1_000 }),
  ];
  expect(refused).toBeInstanceOf(Function);
});

it('chooses no near end for a caller: a loopback port lets every user of the computer in (O15)', () => {
  const refused = (host: entry.SessionHost): unknown[] => [
    // @ts-expect-error a target without a near end
    host.launch({ id: 'one', target: { host: 'far' }, farSocketPath: '/far.sock' }),
  ];
  expect(refused).toBeInstanceOf(Function);
});

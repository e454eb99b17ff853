import { expect } from '@jest/globals';
import type { Aftermath } from '../support/fan-out.js';

/**
 * What must be true after any fault of the fan-out: recording never paused; every answered check is there once; each batch was applied
 * once and in order; the read models are the fold of all facts; and every ledger event was published.
 */
export const expectUnharmed = ({ report, broken, missteps, unpublished }: Aftermath): void => {
  // A moment of a busy machine: a record that waited for NATS would pause for ten seconds and more.
  expect(report.longestPause).toBeLessThan(4_000);
  expect(Object.keys(broken)).toEqual(expect.arrayContaining(['I1', 'I2', 'I3', 'I4', 'I6', 'I7']));
  expect(Object.values(broken).flat()).toEqual([]);
  expect(missteps).toEqual([]);
  expect(unpublished).toEqual([]);
  // Nothing but load may have kept a check from being answered, and machines said it again then.
  expect(
    Object.keys(report.outcomes).filter((what) => /not from the plane|refused: (?!unavailable)/.test(what)),
  ).toEqual([]);
};

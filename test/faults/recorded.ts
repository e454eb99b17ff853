import { expect } from '@jest/globals';
import type { Recorded } from '../support/recording.js';

/**
 * What must be true after any fault of the record: every answered check is there once, in a dense record, and shown as it is; and whoever got
 * no such answer got none at all, or was told when to come again.
 */
export const expectRecorded = ({ report, checks, broken }: Recorded): void => {
  expect(Object.keys(broken)).toEqual(expect.arrayContaining(['I1', 'I2', 'I3', 'I4', 'I6', 'I7']));
  expect(Object.values(broken).flat()).toEqual([]);
  expect(
    Object.keys(report.outcomes).filter((what) => !/^(accepted|lost: .*|refused: unavailable)$/.test(what)),
  ).toEqual([]);
  expect(checks.filter(({ status, retryAfter }) => status === 503 && retryAfter === null)).toEqual([]);
};

import { expect, it } from '@jest/globals';
import { admitted, checkedIn } from '@rollcall/machine/testing';
import { hearOn } from './gaps.js';
import { RecordBuilder } from './testing/record-builder.js';

const M = '0192f0c4-0000-7000-8000-000000000001';
const NOON = Date.UTC(2026, 0, 1, 12);
const named = { type: 'MachineRenamed', name: 'anvil' } as const;

it('counts silence from checks and marks only: what others record while no check could be is a gap, and not a proof of listening (B1)', () => {
  const record = new RecordBuilder(NOON).record(M, admitted()).after(1).record(M, checkedIn());
  for (let passed = 0; passed < 130; passed += 10) record.after(10).record(M, named);
  const deaf = hearOn(null, record.batches(), 15);
  expect(deaf).toEqual({ heardUntil: NOON + 1_000, gaps: [] });
  record.after(1).mark();
  const gap = { batch: 16n, from: NOON + 1_000, until: NOON + 132_000 };
  expect(hearOn(null, record.batches(), 15)).toEqual({ heardUntil: gap.until, gaps: [gap] });
  // In parts as in one.
  expect(hearOn(deaf.heardUntil, record.batches().slice(10), 15)).toEqual({ heardUntil: gap.until, gaps: [gap] });
});

it('finds no gap where a check came with what others recorded, nor before the first ear (B1)', () => {
  const record = new RecordBuilder(NOON).record(M, admitted()).after(600).record(M, named, checkedIn());
  record.after(10).record(M, named).after(5).record(M, checkedIn(), named);
  expect(hearOn(null, record.batches(), 15)).toEqual({ heardUntil: NOON + 615_000, gaps: [] });
});

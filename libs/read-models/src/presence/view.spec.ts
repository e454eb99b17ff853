import { expect, it } from '@jest/globals';
import { admitted, checkedIn, confirmed, deleted, registered, rotationRequested } from '@rollcall/machine/testing';
import type { MachineView } from '@rollcall/wire';
import { MemoryReadModels, RecordBuilder } from '../testing/index.js';
import { machineView } from './view.js';

const M = 'm1';
const NOON = Date.UTC(2026, 0, 1, 12);

const view = (record: RecordBuilder): MachineView => {
  const models = new MemoryReadModels();
  models.apply(record.batches());
  return machineView(models.presence(M)!, { until: record.now, gapEnd: models.gaps().at(-1)?.until ?? null });
};

/** Marks every ten seconds: the plane listens. */
const listening = (record: RecordBuilder, seconds: number): RecordBuilder => {
  for (let passed = 0; passed < seconds; passed += 10) record.after(10).mark();
  return record;
};

it('shows a machine before, within and after its window (O22)', () => {
  const record = new RecordBuilder(NOON).record(M, admitted());
  expect(view(record)).toMatchObject({ presence: 'not-yet-arrived', lifecycle: null, lastCheckAt: null });
  record.record(M, confirmed(1), checkedIn({ window: 120 }));
  expect(view(listening(record, 120))).toMatchObject({
    presence: 'present',
    lifecycle: 'running',
    generation: 1,
    window: 120,
  });
  expect(view(listening(record, 10))).toMatchObject({
    presence: 'absent',
    lifecycle: 'unknown',
    lastCheckAt: '2026-01-01T12:00:00.000Z',
    admittedAt: '2026-01-01T12:00:00.000Z',
  });
});

it('gives a machine a full window after a time in which the plane was deaf (B1)', () => {
  const record = new RecordBuilder(NOON).record(M, admitted(), checkedIn({ window: 120 }));
  record.after(86_400).mark();
  expect(view(record).presence).toBe('present');
  expect(view(listening(record, 120)).presence).toBe('present');
  expect(view(listening(record, 10)).presence).toBe('absent');
});

it('shows a stop on purpose as such once the window is over, and not before (O23)', () => {
  const record = new RecordBuilder(NOON).record(M, admitted(), checkedIn({ said: 'stopping', reason: 'person' }));
  expect(view(record)).toMatchObject({ presence: 'present', lifecycle: 'stopping', stopReason: 'person' });
  expect(view(listening(record, 130))).toMatchObject({
    presence: 'absent',
    lifecycle: 'stopped',
    stopReason: 'person',
  });
});

it('names the blocker of a machine that is present but cannot take work (O32)', () => {
  const record = new RecordBuilder(NOON).record(M, admitted(), checkedIn(), {
    type: 'BlockersChanged',
    blockers: ['disk-full'],
  });
  const shown = view(record);
  expect(shown.sentence).toMatch(/^present, but cannot take work: .*disk-full/);
  expect(shown.blockers).toEqual([
    {
      code: 'disk-full',
      since: '2026-01-01T12:00:00.000Z',
      sentence: 'the disk is full',
      fix: expect.stringContaining('free space'),
      blocksWork: true,
    },
  ]);
  expect(shown.canTakeWork).toBe(false);
});

it('shows the next generation of a credential as waited for, and the first one of a machine as none (N26)', () => {
  const record = new RecordBuilder(NOON).record(M, admitted(), registered(1));
  expect(view(record)).toMatchObject({ pendingGeneration: null, refusedClaims: null });
  record.record(M, confirmed(1), rotationRequested('2026-01-01T12:00:00.000Z', 1), registered(2));
  expect(view(record)).toMatchObject({
    generation: 1,
    pendingGeneration: 2,
    requests: { logTail: null, rotation: '2026-01-01T12:00:00.000Z' },
  });
});

it('shows a deleted machine as deleted (O31)', () => {
  const record = new RecordBuilder(NOON).record(M, admitted(), checkedIn()).record(M, deleted());
  expect(view(record)).toMatchObject({ lifecycle: 'deleted', deletedAt: '2026-01-01T12:00:00.000Z', revision: 3 });
});

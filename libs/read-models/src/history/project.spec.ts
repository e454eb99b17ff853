import { expect, it } from '@jest/globals';
import { admitted, checkedIn, deleted, registered, started } from '@rollcall/machine/testing';
import { ANNA, MemoryReadModels, RecordBuilder, torn } from '../testing/index.js';
import type { HistoryLine } from './project.js';

const M = 'm1';
const NOON = Date.UTC(2026, 0, 1, 12);

const linesOf = (record: RecordBuilder): readonly HistoryLine[] => {
  const models = new MemoryReadModels();
  models.apply(record.batches());
  return models.history(M);
};

/** What the lines are, for short. */
const shape = (lines: readonly HistoryLine[]): readonly string[] =>
  lines.map((line) => (line.kind === 'event' ? line.type : `${line.checks} × ${line.said}`));

it('keeps each event as it was recorded, with who did it', () => {
  const record = new RecordBuilder(NOON).record(M, admitted({ name: 'box' }));
  expect(linesOf(record)).toEqual([
    {
      kind: 'event',
      machine: M,
      revision: 1,
      at: NOON,
      type: 'MachineAdmitted',
      actor: ANNA,
      body: JSON.stringify({
        machine: admitted().machine,
        nodeId: 'node-1',
        owner: 'person-1',
        token: 'token-1',
        name: 'box',
        identifierHash: 'identifier-1',
      }),
    },
  ]);
});

it('keeps 240 checks with nothing between them as one line (O33)', () => {
  const record = new RecordBuilder(NOON).record(M, admitted());
  for (let check = 0; check < 240; check += 1) record.after(30).record(M, checkedIn());
  expect(linesOf(record).slice(1)).toEqual([
    {
      kind: 'checks',
      machine: M,
      revision: 2,
      at: NOON + 30_000,
      lastRevision: 241,
      lastAt: NOON + 240 * 30_000,
      checks: 240,
      said: 'running',
      window: 120,
    },
  ]);
});

it('ends a run of checks at an event, at another word, and at a silence longer than the window (O22, O23)', () => {
  const record = new RecordBuilder(NOON).record(M, admitted(), registered(1), started(), checkedIn(), checkedIn());
  record.record(M, { type: 'MachineRenamed', name: 'box' }).record(M, checkedIn(), checkedIn());
  record.record(M, checkedIn({ said: 'stopping', reason: 'person' }), checkedIn());
  record.after(120).record(M, checkedIn());
  record.after(120.001).record(M, checkedIn());
  record.record(M, deleted());
  expect(shape(linesOf(record))).toEqual([
    'MachineAdmitted',
    'GenerationRegistered',
    'AgentStarted',
    '2 × running',
    'MachineRenamed',
    '2 × running',
    '1 × stopping',
    '2 × running',
    '1 × running',
    'MachineDeleted',
  ]);
});

it('measures the silence by the window that the newest check put in force (C10)', () => {
  const record = new RecordBuilder(NOON)
    .record(M, checkedIn({ window: 120 }))
    .after(90)
    .record(M, checkedIn({ window: 270 }));
  record
    .after(200)
    .record(M, checkedIn({ window: 270 }))
    .after(271)
    .record(M, checkedIn({ window: 270 }));
  expect(shape(linesOf(record))).toEqual(['3 × running', '1 × running']);
});

it('keeps the machines apart', () => {
  const record = new RecordBuilder(NOON).record(M, admitted(), checkedIn()).record('m2', admitted(), checkedIn());
  record.record(M, checkedIn()).record('m2', deleted());
  expect(shape(linesOf(record))).toEqual(['MachineAdmitted', '2 × running']);
});

it('leaves nothing out: an event that this version cannot read is a line too', () => {
  const record = new RecordBuilder(NOON).record(M, admitted(), torn('MachineRenamed'), {
    type: 'MachineDreamt',
    of: 'sheep',
  });
  expect(shape(linesOf(record))).toEqual(['MachineAdmitted', 'MachineRenamed', 'MachineDreamt']);
});

import { expect, it } from '@jest/globals';
import { admitted, checkedIn, confirmed, deleted, forked, paused, started } from '@rollcall/machine/testing';
import { MemoryReadModels, RecordBuilder, torn } from '../testing/index.js';

const M = 'm1';
const NOON = Date.UTC(2026, 0, 1, 12);
const blockers = (...codes: string[]) => ({ type: 'BlockersChanged', blockers: codes }) as const;

const modelsAfter = (record: RecordBuilder): MemoryReadModels => {
  const models = new MemoryReadModels();
  models.apply(record.batches());
  return models;
};

/** Each episode for short: its code, and its beginning and end in seconds after noon. */
const episodes = (record: RecordBuilder, machine = M): readonly (readonly [string, number, number | null])[] =>
  modelsAfter(record)
    .readiness(machine)
    .map(({ code, since, until }) => [code, (since - NOON) / 1_000, until === null ? null : (until - NOON) / 1_000]);

it('begins an episode when a blocker is first said, and ends it when it is not said any more (O21, O32)', () => {
  const record = new RecordBuilder(NOON).record(M, admitted(), checkedIn());
  record.after(10).record(M, blockers('disk-full'), checkedIn());
  record.after(10).record(M, blockers('clock-wrong', 'disk-full'), checkedIn());
  record.after(10).record(M, blockers('clock-wrong'), checkedIn());
  expect(episodes(record)).toEqual([
    ['disk-full', 10, 30],
    ['clock-wrong', 20, null],
  ]);
  record.after(10).record(M, blockers('clock-wrong', 'disk-full')).after(10).record(M, blockers());
  expect(episodes(record)).toEqual([
    ['disk-full', 10, 30],
    ['clock-wrong', 20, 50],
    ['disk-full', 40, 50],
  ]);
});

it('keeps an episode as it is over checks that say nothing of blockers, restarts and goodbyes (O25)', () => {
  const record = new RecordBuilder(NOON).record(M, admitted(), blockers('disk-full'), checkedIn());
  const before = modelsAfter(record).readiness(M);
  record.after(30).record(M, started(), checkedIn());
  record
    .after(30)
    .record(M, { type: 'StopAnnounced', reason: 'update' }, checkedIn({ said: 'stopping', reason: 'update' }));
  expect(modelsAfter(record).readiness(M)).toEqual(before);
});

it('keeps a code that nobody here knows like any other (O21)', () =>
  expect(episodes(new RecordBuilder(NOON).record(M, admitted(), blockers('moon-phase', 'moon-phase')))).toEqual([
    ['moon-phase', 0, null],
  ]));

it('does not begin anew what is said twice', () => {
  const record = new RecordBuilder(NOON).record(M, admitted(), blockers('disk-full'));
  record.after(10).record(M, blockers('disk-full'));
  expect(episodes(record)).toEqual([['disk-full', 0, null]]);
});

it('tells two episodes of one batch apart by their revisions', () => {
  const record = new RecordBuilder(NOON).record(
    M,
    admitted(),
    blockers('disk-full'),
    blockers(),
    blockers('disk-full'),
  );
  expect(modelsAfter(record).readiness(M)).toEqual([
    { machine: M, code: 'disk-full', sinceRevision: 2, since: NOON, until: NOON, expiresAt: null },
    { machine: M, code: 'disk-full', sinceRevision: 4, since: NOON, until: null, expiresAt: null },
  ]);
});

it('ends all episodes of a machine with its deletion, and begins none after it (O31)', () => {
  const record = new RecordBuilder(NOON).record(M, admitted(), blockers('clock-wrong', 'disk-full'));
  record.after(60).record(M, deleted()).after(60).record(M, blockers('disk-full'), deleted());
  expect(episodes(record)).toEqual([
    ['clock-wrong', 0, 60],
    ['disk-full', 0, 60],
  ]);
  expect(modelsAfter(record).dump()).toContain(`"deletedAt":${NOON + 60_000},"machine":"${M}","owner":"person-1"`);
});

const at = (seconds: number): string => new Date(NOON + seconds * 1_000).toISOString();
const resumed = { type: 'MachineResumed' } as const;

it('keeps a person’s pause as an episode of its own, which nothing that the machine says begins or ends', () => {
  const record = new RecordBuilder(NOON).record(M, admitted(), paused('a new disk'), blockers('disk-full'));
  record.after(10).record(M, blockers('operator-paused'), started(), checkedIn());
  record.after(10).record(M, blockers(), checkedIn());
  expect(episodes(record)).toEqual([
    ['operator-paused', 0, null],
    ['disk-full', 0, 10],
  ]);
  record.after(10).record(M, resumed).after(10).record(M, blockers('operator-paused'));
  expect(episodes(record)).toEqual([
    ['operator-paused', 0, 30],
    ['disk-full', 0, 10],
  ]);
});

it('keeps the sign of a copy as an episode of its own until a later generation is confirmed, whatever the machine says (B2)', () => {
  const record = new RecordBuilder(NOON).record(M, admitted(), confirmed(1), forked(), checkedIn());
  record.after(10).record(M, blockers('duplicate-installation', 'disk-full')).after(10).record(M, blockers());
  record.after(3_600).record(M, forked(), paused('a new disk'));
  expect(episodes(record)).toEqual([
    ['duplicate-installation', 0, null],
    ['disk-full', 10, 20],
    ['operator-paused', 3_620, null],
  ]);
  record.after(10).record(M, confirmed(2), checkedIn()).after(10).record(M, blockers('duplicate-installation'));
  expect(episodes(record)).toEqual([
    ['duplicate-installation', 0, 3_630],
    ['disk-full', 10, 20],
    ['operator-paused', 3_620, null],
  ]);
});

it('lets a pause that is given another note or expiry while it is in force go on, and begins another one after it was over', () => {
  const record = new RecordBuilder(NOON).record(M, admitted(), paused('a new disk', at(60)));
  record.after(30).record(M, paused('a new disk', at(90)));
  expect(modelsAfter(record).readiness(M)).toMatchObject([{ since: NOON, until: null, expiresAt: NOON + 90_000 }]);
  record.after(60).record(M, paused('a fan'));
  expect(episodes(record)).toEqual([
    ['operator-paused', 0, 90],
    ['operator-paused', 90, null],
  ]);
  expect(modelsAfter(record).readiness(M)[1]?.expiresAt).toBeNull();
});

it.each([
  ['taken back', resumed],
  ['the machine is deleted', deleted()],
])('ends a pause at its expiry, however much later %s', (_, fact) => {
  const record = new RecordBuilder(NOON)
    .record(M, admitted(), paused('a new disk', at(60)))
    .after(600)
    .record(M, fact);
  expect(episodes(record)).toEqual([['operator-paused', 0, 60]]);
});

it('keeps the machines apart', () => {
  const record = new RecordBuilder(NOON).record(M, admitted(), blockers('disk-full'));
  record.after(10).record('m2', admitted(), blockers('clock-wrong')).after(10).record(M, blockers());
  expect([episodes(record), episodes(record, 'm2')]).toEqual([[['disk-full', 0, 20]], [['clock-wrong', 10, null]]]);
});

it.each([
  ['a type from the future', { type: 'MachineDreamt' }, 'unknown-type'],
  ['a body that is no JSON', torn('BlockersChanged'), 'body-unreadable'],
  ['blockers that are no list', { type: 'BlockersChanged', blockers: 'disk-full' }, 'wrong-shape'],
])('parks %s, counts it, and goes on (C11)', (_, poison, reason) => {
  const record = new RecordBuilder(NOON).record(M, admitted(), poison, poison).record(M, blockers('disk-full'));
  expect(episodes(record)).toEqual([['disk-full', 0, null]]);
  expect(modelsAfter(record).parked('readiness')).toEqual([
    expect.objectContaining({ stream: `machine-${M}`, reason, firstRevision: 2, lastRevision: 3, facts: 2 }),
  ]);
});

it('parks what is said of a machine whose admission it never understood', () => {
  const record = new RecordBuilder(NOON).record(M, { type: 'MachineAdmitted' }, blockers('disk-full'), deleted());
  expect(episodes(record)).toEqual([]);
  expect(modelsAfter(record).parked('readiness')).toEqual([
    expect.objectContaining({ reason: 'wrong-shape', facts: 1 }),
    expect.objectContaining({ reason: 'not-admitted', detail: 'BlockersChanged', firstRevision: 2, facts: 2 }),
  ]);
});

it('uses neither check-ins nor what is not about machines, and parks none of it (U7)', () => {
  const anna = { kind: 'person', id: 'anna' } as const;
  const record = new RecordBuilder(NOON).record(M, checkedIn(), checkedIn({ window: -1 }));
  record.recordTo('person-anna', anna, { type: 'PersonRegistered', name: 'Anna' });
  const models = modelsAfter(record);
  expect(models.parked('readiness')).toEqual([]);
  expect(models.dump()).not.toContain('"table":"readiness"');
});

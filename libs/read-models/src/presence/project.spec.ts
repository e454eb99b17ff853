import { expect, it } from '@jest/globals';
import { presence, type ClaimRefused } from '@rollcall/machine';
import {
  admitted,
  checkedIn,
  confirmed,
  deleted,
  forked,
  labelled,
  logTailReceived,
  logTailRequested,
  paused,
  registered,
  returned,
  rotationRequested,
  started,
  voided,
  wentAbsent,
} from '@rollcall/machine/testing';
import { MemoryReadModels, RecordBuilder, torn } from '../testing/index.js';
import type { PresenceRow } from './project.js';

const M = 'm1';
const NOON = Date.UTC(2026, 0, 1, 12);

const rowAfter = (write: (record: RecordBuilder) => RecordBuilder): PresenceRow | undefined => {
  const models = new MemoryReadModels();
  models.apply(write(new RecordBuilder(NOON)).batches());
  return models.presence(M);
};

it('makes a row of an admission: known, owned, and not heard from yet (O22)', () => {
  expect(rowAfter((record) => record.record(M, admitted({ name: 'given' }), registered(1)))).toEqual({
    machine: M,
    node: 'node-1',
    owner: 'person-1',
    name: 'given',
    hostname: null,
    agentVersion: null,
    platform: null,
    arch: null,
    generation: null,
    admittedAt: NOON,
    lastCheckAt: null,
    window: null,
    said: null,
    stopReason: null,
    blockers: [],
    logTailRequested: null,
    rotationRequested: null,
    pendingGeneration: 1,
    refusedClaims: null,
    absentSince: null,
    pause: null,
    labels: {},
    deletedAt: null,
    revision: 2,
  });
});

it('takes the time of a check from the record, and the window from the check (O22, C12)', () => {
  const row = rowAfter((record) =>
    record
      .record(M, admitted(), registered(1))
      .after(30)
      .record(M, started(), confirmed(1), checkedIn({ window: 270 })),
  );
  expect(row).toMatchObject({
    lastCheckAt: NOON + 30_000,
    window: 270,
    generation: 1,
    said: 'running',
    stopReason: null,
  });
});

it('orders by revision and never by a time that a machine could tell (C12)', () => {
  const row = rowAfter((record) => {
    record.record(M, admitted());
    // Three checks in one batch share a time; the last revision is the newest word.
    return record.record(
      M,
      checkedIn({ window: 120 }),
      checkedIn({ said: 'stopping', reason: 'update' }),
      checkedIn({ window: 90 }),
    );
  });
  expect(row).toMatchObject({ said: 'running', stopReason: null, window: 90, revision: 4 });
});

it('keeps the last word and its reason, so that silence afterwards is a stop on purpose (O23)', () => {
  const row = rowAfter((record) =>
    record
      .record(M, admitted(), checkedIn())
      .after(10)
      .record(M, { type: 'StopAnnounced', reason: 'person' }, checkedIn({ said: 'stopping', reason: 'person' })),
  );
  expect(row).toMatchObject({ said: 'stopping', stopReason: 'person', lastCheckAt: NOON + 10_000 });
});

it('leaves no marker of a stop behind when the machine checks again (O23)', () => {
  const row = rowAfter((record) =>
    record
      .record(M, admitted(), checkedIn({ said: 'stopping', reason: 'update' }))
      .after(300)
      .record(M, started(), checkedIn()),
  );
  expect(row).toMatchObject({ said: 'running', stopReason: null });
});

it('adopts a name once and keeps the one that a person gave (O24, C02)', () => {
  const row = rowAfter((record) => {
    record.record(M, admitted(), checkedIn()).record(M, { type: 'NameAdopted', name: 'ip-10-0-0-7' }, checkedIn());
    expect(rowOf(record)?.name).toBe('ip-10-0-0-7');
    record.record(M, { type: 'MachineRenamed', name: 'build-box' });
    for (let check = 0; check < 100; check += 1) record.after(30).record(M, checkedIn());
    return record
      .record(M, {
        type: 'SelfReportChanged',
        hostname: 'ip-10-0-0-9',
        agentVersion: '1',
        platform: 'linux',
        arch: 'x64',
      })
      .record(M, { type: 'NameAdopted', name: 'ip-10-0-0-9' }, checkedIn());
  });
  expect(row).toMatchObject({
    name: 'build-box',
    hostname: 'ip-10-0-0-9',
    agentVersion: '1',
    platform: 'linux',
    arch: 'x64',
  });
});

const rowOf = (record: RecordBuilder): PresenceRow | undefined => {
  const models = new MemoryReadModels();
  models.apply(record.batches());
  return models.presence(M);
};

it('keeps since when each blocker stands, over checks that say nothing of them (O25, O32)', () => {
  const record = new RecordBuilder(NOON).record(M, admitted());
  record.after(10).record(M, { type: 'BlockersChanged', blockers: ['disk-full'] }, checkedIn());
  record.after(30).record(M, checkedIn());
  record.after(30).record(M, { type: 'BlockersChanged', blockers: ['clock-wrong', 'disk-full'] }, checkedIn());
  expect(rowOf(record)?.blockers).toEqual([
    { code: 'clock-wrong', since: NOON + 70_000 },
    { code: 'disk-full', since: NOON + 10_000 },
  ]);
  record.after(30).record(M, { type: 'BlockersChanged', blockers: ['clock-wrong'] }, checkedIn());
  record.after(30).record(M, { type: 'BlockersChanged', blockers: ['clock-wrong', 'disk-full'] }, checkedIn());
  expect(rowOf(record)?.blockers).toEqual([
    { code: 'clock-wrong', since: NOON + 70_000 },
    { code: 'disk-full', since: NOON + 130_000 },
  ]);
});

it('keeps a deleted machine deleted, whatever is recorded after it (O31)', () => {
  const record = new RecordBuilder(NOON).record(M, admitted(), checkedIn()).after(5).record(M, deleted());
  record.after(5).record(M, checkedIn(), { type: 'MachineRenamed', name: 'back' });
  expect(rowOf(record)?.deletedAt).toBe(NOON + 5_000);
});

it('changes no row because time passed or the plane was deaf: presence follows from what was heard since (B1, O22)', () => {
  const record = new RecordBuilder(NOON).record(M, admitted(), checkedIn({ window: 120 }));
  const before = rowOf(record);
  record.after(3_600).mark();
  expect(rowOf(record)).toEqual(before);
  const models = new MemoryReadModels();
  models.apply(record.batches());
  const gapEnd = models.gaps().at(-1)!.until;
  const heard = { lastCheckAt: before!.lastCheckAt, window: before!.window, gapEnd, absentSince: null };
  expect(presence(record.now, heard)).toBe('present');
  expect(presence(record.now + 120_001, heard)).toBe('absent');
});

it('keeps an absence that is recorded until the next check, whatever the plane has not observed meanwhile (O22, B1, C18)', () => {
  const record = new RecordBuilder(NOON).record(M, admitted(), checkedIn({ window: 120 }));
  record.after(121).record(M, wentAbsent());
  expect(rowOf(record)).toMatchObject({ absentSince: Date.parse('2026-01-01T12:02:00.000Z') });
  record.after(3_600).record(M, returned(3_601), checkedIn({ sequence: 2 }));
  expect(rowOf(record)).toMatchObject({ absentSince: null, lastCheckAt: record.now });
});

it('keeps the beginning of a pause that is given another note while it is in force, and begins a new one after its expiry', () => {
  const record = new RecordBuilder(NOON).record(M, admitted(), paused('a new disk', '2026-01-01T12:10:00.000Z'));
  record.after(60).record(M, paused('a new disk and a fan', '2026-01-01T12:05:00.000Z'));
  expect(rowOf(record)?.pause).toEqual({
    since: NOON,
    note: 'a new disk and a fan',
    until: Date.parse('2026-01-01T12:05:00.000Z'),
    by: 'anna',
  });
  record.after(240).record(M, paused('again'));
  expect(rowOf(record)?.pause).toEqual({ since: record.now, note: 'again', until: null, by: 'anna' });
  record.record(M, { type: 'MachineResumed' });
  expect(rowOf(record)?.pause).toBeNull();
});

it('shows the sign of a copy until a later generation is confirmed, whatever the machine says (B2)', () => {
  const said = (...blockers: string[]) => ({ type: 'BlockersChanged', blockers }) as const;
  const record = new RecordBuilder(NOON).record(M, admitted(), confirmed(1), forked(), checkedIn());
  const sign = { code: 'duplicate-installation', since: NOON };
  expect(rowOf(record)?.blockers).toEqual([sign]);
  record.after(10).record(M, said('disk-full'), checkedIn());
  expect(rowOf(record)?.blockers).toEqual([{ code: 'disk-full', since: record.now }, sign]);
  record.after(10).record(M, said()).after(3_600).record(M, forked());
  expect(rowOf(record)?.blockers).toEqual([sign]);
  record.after(10).record(M, confirmed(2), said('duplicate-installation'));
  expect(rowOf(record)).toMatchObject({ blockers: [], generation: 2 });
});

it('shows the labels that were set last', () => {
  const record = new RecordBuilder(NOON).record(M, admitted(), labelled({ rack: 'b7' }), labelled({ site: 'north' }));
  expect(rowOf(record)?.labels).toEqual({ site: 'north' });
});

it('ignores what is not about machines (U7)', () => {
  const models = new MemoryReadModels();
  const anna = { kind: 'person', id: 'anna' } as const;
  models.apply(new RecordBuilder().recordTo('person-anna', anna, { type: 'PersonRegistered', name: 'Anna' }).batches());
  expect(models.dump()).not.toMatch(/"table":"(presence|history|parked)"/);
  expect(models.dump()).toContain('"checkpoint":"1"');
});

it.each([
  ['a type from the future', { type: 'MachineDreamt', of: 'sheep' }, 'unknown-type'],
  ['a body that is no JSON', torn('MachineRenamed'), 'body-unreadable'],
  ['a body of another shape', { type: 'MachineRenamed', name: 7 }, 'wrong-shape'],
  ['a text that Postgres cannot store', { type: 'MachineRenamed', name: 'a\0b' }, 'wrong-shape'],
  ['half a character', { type: 'MachineRenamed', name: '\ud800' }, 'wrong-shape'],
  ['blockers that are no list', { type: 'BlockersChanged', blockers: 'disk-full' }, 'wrong-shape'],
  ['a stop reason outside the vocabulary', { type: 'StopAnnounced', reason: 'boredom' }, 'wrong-shape'],
  ['a boot without an id', { type: 'AgentStarted', boot: { counter: 1 } }, 'wrong-shape'],
  ['a type that objects have by birth', { type: 'toString' }, 'unknown-type'],
])('parks %s, counts it, and goes on (C11)', (_, poison, reason) => {
  const models = new MemoryReadModels();
  const record = new RecordBuilder(NOON).record(M, admitted(), checkedIn()).record(M, poison, poison);
  models.apply(record.after(30).record(M, checkedIn()).batches());
  expect(models.presence(M)).toMatchObject({ lastCheckAt: NOON + 30_000, name: null, blockers: [] });
  for (const readModel of ['presence', 'history']) {
    expect(models.parked(readModel as 'presence')).toEqual([
      expect.objectContaining({ stream: `machine-${M}`, reason, firstRevision: 3, lastRevision: 4, facts: 2 }),
    ]);
  }
});

it('parks the facts of a machine whose admission it never understood', () => {
  const models = new MemoryReadModels();
  models.apply(new RecordBuilder().record(M, { type: 'MachineAdmitted' }, checkedIn()).batches());
  expect(models.presence(M)).toBeUndefined();
  expect(models.parked('presence').map(({ reason }) => reason)).toEqual(['wrong-shape', 'not-admitted']);
});

it('parks a check-in that says what no check-in can say', () => {
  const models = new MemoryReadModels();
  models.apply(new RecordBuilder().record(M, admitted(), checkedIn({ window: -1 })).batches());
  expect(models.presence(M)?.lastCheckAt).toBeNull();
  expect(models.parked('history')).toEqual([
    expect.objectContaining({ reason: 'wrong-shape', detail: 'check-in: window' }),
  ]);
});

it('keeps a request until its own upload, whatever happens to the machine meanwhile, and none of a deleted machine (O26, O31)', () => {
  const [older, newer] = [NOON, NOON + 1].map((stamp) => new Date(stamp).toISOString()) as [string, string];
  const asked = (record: RecordBuilder) =>
    record
      .record(M, admitted(), logTailRequested(older), logTailRequested(newer))
      .record(M, checkedIn({ said: 'stopping', reason: 'person' }))
      .after(300)
      .record(M, started(), checkedIn(), logTailReceived(older));
  expect(rowAfter(asked)?.logTailRequested).toBe(NOON + 1);
  expect(rowAfter((record) => asked(record).record(M, logTailReceived(newer)))?.logTailRequested).toBeNull();
  expect(rowAfter((record) => asked(record).record(M, deleted()))?.logTailRequested).toBeNull();
});

it('names a newer credential that is waited for until one has succeeded, is void, or the machine is deleted (O19, N26)', () => {
  const stamp = new Date(NOON).toISOString();
  const asked = (record: RecordBuilder) =>
    record.record(M, admitted(), registered(1), confirmed(1), rotationRequested(stamp, 1), registered(2));
  const waiting = { rotationRequested: { stamp: NOON, generation: 1 }, pendingGeneration: 2 };
  expect(rowAfter(asked)).toMatchObject(waiting);
  const none = { rotationRequested: null, pendingGeneration: null };
  expect(rowAfter((record) => asked(record).record(M, confirmed(2)))).toMatchObject(none);
  expect(rowAfter((record) => asked(record).record(M, deleted()))).toMatchObject(none);
  expect(rowAfter((record) => asked(record).record(M, voided(2)))).toMatchObject({
    ...waiting,
    pendingGeneration: null,
  });
  // Asked for while one was registered already: that one is to be replaced as well.
  const again = (record: RecordBuilder) =>
    record.record(M, admitted(), registered(1), confirmed(1), registered(2), rotationRequested(stamp, 2), confirmed(2));
  expect(rowAfter(again)).toMatchObject({ rotationRequested: { stamp: NOON, generation: 2 }, pendingGeneration: null });
});

it('keeps refused claims as one, with the first and the last of them, until the machine is deleted (C03)', () => {
  const claim = (hostname: string | null): ClaimRefused => ({
    type: 'ClaimRefused',
    noticedAt: new Date(NOON).toISOString(),
    token: 't',
    hostname,
  });
  const claimed = (record: RecordBuilder) =>
    record.record(M, admitted(), claim('forge')).after(90).record(M, claim(null));
  expect(rowAfter(claimed)?.refusedClaims).toEqual({ count: 2, first: NOON, last: NOON + 90_000, hostname: null });
  expect(rowAfter((record) => claimed(record).record(M, deleted()))?.refusedClaims).toBeNull();
});

it('parks a request whose stamp is no time', () => {
  const models = new MemoryReadModels();
  models.apply(new RecordBuilder(NOON).record(M, admitted(), logTailRequested('soon')).batches());
  expect(models.parked('presence')).toMatchObject([{ reason: 'wrong-shape', detail: 'LogTailRequested: stamp' }]);
});

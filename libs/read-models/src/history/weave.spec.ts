import { expect, it } from '@jest/globals';
import {
  admitted,
  checkedIn,
  deleted,
  forked,
  labelled,
  logTailReceived,
  logTailRequested,
  paused,
  registered,
  returned,
  started,
  wentAbsent,
} from '@rollcall/machine/testing';
import { MemoryReadModels, RecordBuilder, torn } from '../testing/index.js';
import { plainly } from './sentence.js';
import { weave } from './weave.js';

const M = 'm1';
const NOON = Date.UTC(2026, 0, 1, 12);

const sentences = (record: RecordBuilder, nameOf = plainly): readonly string[] => {
  const models = new MemoryReadModels();
  models.apply(record.batches());
  return weave(models.history(M), models.gaps(), nameOf, []).map(({ sentence }) => sentence);
};

it('tells the life of a machine in sentences', () => {
  const record = new RecordBuilder(NOON).record(M, admitted(), registered(1));
  record.after(5).record(M, started(), { type: 'GenerationConfirmed', generation: 1 }, checkedIn());
  record.after(5).record(M, { type: 'NameAdopted', name: 'ip-7' });
  record.record(M, {
    type: 'SelfReportChanged',
    hostname: 'ip-7',
    agentVersion: '0.1.0',
    platform: 'linux',
    arch: 'x64',
  });
  record.record(M, { type: 'BlockersChanged', blockers: ['clock-wrong', 'disk-full'] }, checkedIn(), checkedIn());
  record.after(5).record(M, { type: 'BlockersChanged', blockers: [] }, checkedIn(), checkedIn(), checkedIn());
  record.after(5).record(M, { type: 'MachineRenamed', name: 'build-box' });
  record
    .after(5)
    .record(M, { type: 'StopAnnounced', reason: 'person' }, checkedIn({ said: 'stopping', reason: 'person' }));
  record.after(5).record(M, logTailRequested('2026-01-01T12:00:30.000Z'), logTailReceived('2026-01-01T12:00:30.000Z'));
  record
    .after(5)
    .record(M, paused('a new disk', '2026-01-01T13:00:00.000Z'), paused('a fan'), { type: 'MachineResumed' });
  record.record(M, labelled({ rack: 'b7', site: 'north' }), labelled({}));
  record.after(5).record(M, wentAbsent(), returned(61), checkedIn(), wentAbsent({ stopReason: 'update' }));
  record.after(5).record(M, forked(), deleted());
  expect(sentences(record)).toEqual([
    'admitted by person anna with an enrolment token',
    'credential 1 registered',
    'the agent started (start 1)',
    'credential 1 used for the first time',
    'checked in once',
    'took the name "ip-7" from its own report',
    'reports hostname ip-7, agent 0.1.0, linux x64',
    'cannot take work any more: the clock is wrong (clock-wrong), the disk is full (disk-full)',
    'checked in twice',
    'can take work again; the clock is wrong (clock-wrong) lasted 5 s; the disk is full (disk-full) lasted 5 s',
    'checked in 3 times',
    'renamed to "build-box" by person anna',
    'said it would stop: person',
    'checked in once, stopping',
    'the tail of its log was asked for by person anna',
    'uploaded the tail of its log, as asked for at 2026-01-01T12:00:30.000Z',
    'paused by person anna until 2026-01-01T13:00:00.000Z: a new disk',
    'paused by person anna: a fan',
    'the pause was ended by person anna',
    'labelled rack=b7, site=north by person anna',
    'all labels taken away by person anna',
    'absent since 2026-01-01T12:02:00.000Z: nothing was heard for 2 min, and it had said that it runs',
    'heard from again, after 61 s of absence',
    'checked in once',
    'stopped (update): as it had said, nothing was heard of it since 2026-01-01T12:00:00.000Z',
    'credential 1 is in use twice: a copy of this installation is checking in as well (noticed at a check of start 1)',
    'deleted by person anna',
  ]);
});

it('calls actors as it is told to', () =>
  expect(sentences(new RecordBuilder().record(M, admitted({ name: 'box' })), ({ id }) => `the person ${id}`)).toEqual([
    'admitted by the person anna with an enrolment token as "box"',
  ]));

it('says of an event that it cannot read that it cannot', () =>
  expect(sentences(new RecordBuilder().record(M, torn('MachineRenamed'), { type: 'MachineDreamt' }))).toEqual([
    'MachineRenamed, which this version cannot read (body-unreadable)',
    'MachineDreamt, which this version cannot read (unknown-type)',
  ]));

it('reports nothing where a machine tells nothing about itself', () =>
  expect(
    sentences(
      new RecordBuilder().record(M, {
        type: 'SelfReportChanged',
        hostname: null,
        agentVersion: null,
        platform: null,
        arch: null,
      }),
    ),
  ).toEqual(['reports nothing about itself']));

it('weaves the times in which the plane was deaf in between, where they began (B1)', () => {
  const record = new RecordBuilder(NOON).record(M, admitted(), checkedIn());
  record.after(300).record(M, checkedIn()).after(10_000).mark().after(300_000).mark();
  expect(sentences(record)).toEqual([
    'admitted by person anna with an enrolment token',
    'checked in once',
    'not observed: the plane was not listening for 5 min',
    'checked in once',
    'not observed: the plane was not listening for 3 h',
    'not observed: the plane was not listening for 3 days',
  ]);
});

it('shows a short deafness inside a run of checks after the beginning of the run (B1)', () => {
  const record = new RecordBuilder(NOON)
    .record(M, checkedIn())
    .after(10)
    .record(M, checkedIn())
    .after(16)
    .record(M, checkedIn());
  expect(sentences(record)).toEqual(['checked in 3 times', 'not observed: the plane was not listening for 16 s']);
});

it('calls nothing deaf that is no further apart than the marks allow (B1)', () => {
  const record = new RecordBuilder(NOON).record(M, admitted()).after(15).mark().after(15).mark();
  expect(sentences(record)).toEqual(['admitted by person anna with an enrolment token']);
});

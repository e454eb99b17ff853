import { describe, expect, it } from '@jest/globals';
import type { LedgerEvent, RecordedEvent } from '@rollcall/event-store';
import { admitted, confirmed, deleted, forked, MACHINE_ID, returned, wentAbsent } from '@rollcall/machine/testing';
import { SUBSCRIBABLE } from '@rollcall/webhook-endpoint';
import { endpointIn, isTold, type Endpoint } from './subscriptions.js';
import { learn, noticeOf, testNotice, TYPES_OF, UNKNOWN, type Notice } from './notice.js';

const AT = Date.UTC(2026, 0, 1, 12);

type Event = { readonly type: string; readonly [field: string]: unknown };

const recorded = (event: Event, revision = 7): RecordedEvent => ({
  kind: 'event',
  stream: `machine-${MACHINE_ID}`,
  revision,
  batch: 40n,
  recordedAt: AT,
  position: 9_007_199_254_740_993n,
  eventId: 'e0000000-0000-4000-8000-000000000001',
  commandId: 'c0000000-0000-4000-8000-000000000001',
  ordinal: 0,
  actor: { kind: 'plane', id: 'plane' },
  event: event as LedgerEvent,
  body: '',
});

const blockers = (...codes: string[]) => ({ type: 'BlockersChanged', blockers: codes });
const known = (...past: readonly Event[]) => past.reduce((state, event) => learn(state, event as LedgerEvent), UNKNOWN);
const box = known(admitted({ owner: 'ada', name: 'box' }));

/** What is sent. */
const sent = (notice: Notice | null): unknown => (notice === null ? null : JSON.parse(notice.body));
const data = (notice: Notice | null): unknown => (sent(notice) as { data: unknown } | null)?.data ?? null;

describe('a notice', () => {
  it('carries the id, the place and the time of its event, and whose machine it is about (U5)', () => {
    const notice = noticeOf(box, recorded(deleted()));
    expect(notice).toMatchObject({
      type: 'machine.deleted',
      owner: 'ada',
      eventId: 'e0000000-0000-4000-8000-000000000001',
      machine: MACHINE_ID,
      sequence: 7,
      occurredAt: AT,
    });
    expect(sent(notice)).toEqual({
      type: 'machine.deleted',
      timestamp: '2026-01-01T12:00:00.000Z',
      data: { machine: MACHINE_ID, name: 'box', sequence: 7, position: '9007199254740993', lifecycle: 'deleted' },
    });
  });

  it('of a silence is machine.stopped where the machine had said that it would stop, else machine.absent (O17, O23)', () => {
    const silence = { lastCheckAt: '2026-01-01T11:58:00.000Z', dueAt: '2026-01-01T12:00:00.000Z', window: 120 };
    expect(sent(noticeOf(box, recorded(wentAbsent({ ...silence, stopReason: null }))))).toMatchObject({
      type: 'machine.absent',
      data: { ...silence, lifecycle: 'unknown' },
    });
    expect(sent(noticeOf(box, recorded(wentAbsent({ ...silence, stopReason: 'update' }))))).toMatchObject({
      type: 'machine.stopped',
      data: { ...silence, lifecycle: 'stopped', reason: 'update' },
    });
  });

  it('of a return says how long the machine was absent', () =>
    expect(sent(noticeOf(box, recorded(returned(61))))).toMatchObject({
      type: 'machine.returned',
      data: { absentFor: 61 },
    }));

  it('of an admission names the owner that the event names', () => {
    const notice = noticeOf(UNKNOWN, recorded(admitted({ owner: 'eve', name: 'new' }), 1));
    expect([notice?.owner, notice?.type, data(notice)]).toEqual([
      'eve',
      'machine.admitted',
      { machine: MACHINE_ID, name: 'new', sequence: 1, position: '9007199254740993' },
    ]);
  });

  it('of blockers is sent when the first one that blocks work comes, and again after the last had gone (O21)', () => {
    const at = (...past: readonly (readonly string[])[]) =>
      known(admitted(), ...past.map((codes) => blockers(...codes)));
    const notice = noticeOf(at(), recorded(blockers('clock-wrong', 'stops-at-logout')));
    expect(data(notice)).toMatchObject({ blockers: [{ code: 'clock-wrong', sentence: 'the clock is wrong' }] });
    expect(noticeOf(at(['stops-at-logout']), recorded(blockers('disk-full')))?.type).toBe('machine.blocked');
    expect(noticeOf(at(['disk-full'], []), recorded(blockers('disk-full')))?.type).toBe('machine.blocked');
    expect(noticeOf(at(['disk-full']), recorded(blockers('clock-wrong', 'disk-full')))).toBeNull();
    expect(noticeOf(at(['disk-full']), recorded(blockers()))).toBeNull();
    expect(noticeOf(at(), recorded(blockers('stops-at-logout')))).toBeNull();
  });

  it('of a copy is sent once for as long as its sign stands, also where something else blocks the machine (B2)', () => {
    const copied = recorded(forked());
    expect(noticeOf(known(admitted(), blockers('disk-full')), copied)?.type).toBe('machine.blocked');
    expect(data(noticeOf(box, copied))).toMatchObject({ blockers: [{ code: 'duplicate-installation' }] });
    expect(noticeOf(known(admitted(), forked()), copied)).toBeNull();
    expect(noticeOf(known(admitted(), forked()), recorded(blockers('disk-full')))).toBeNull();
    expect(noticeOf(known(admitted(), forked(), confirmed(2)), copied)?.type).toBe('machine.blocked');
  });

  it('of a rotation is sent for every generation but the first, which is the arrival (O19)', () => {
    expect(noticeOf(box, recorded(confirmed(1)))).toBeNull();
    expect(sent(noticeOf(box, recorded(confirmed(2))))).toMatchObject({
      type: 'credential.rotated',
      data: { generation: 2 },
    });
  });

  it('of a refused credential is about the machine beside whose facts it was recorded (B7)', () => {
    const refused = {
      type: 'CredentialRefused',
      code: 'credential-revoked',
      generation: 2,
      lastAcceptedAt: null,
      refusedAt: '2026-01-01T12:00:00.000Z',
    };
    const beside = (event: Event) => ({ ...recorded(event, 1), stream: `refusals-${MACHINE_ID}` });
    const notice = noticeOf(box, beside(refused));
    expect(notice).toMatchObject({ type: 'credential.refused', owner: 'ada', machine: MACHINE_ID });
    const { type: _, ...told } = refused;
    expect(data(notice)).toMatchObject({ ...told, machine: MACHINE_ID, name: 'box', sequence: 1 });
    const lastAcceptedAt = '2026-01-01T11:59:00.000Z';
    expect(data(noticeOf(box, beside({ ...refused, generation: null, lastAcceptedAt })))).toMatchObject({
      generation: null,
      lastAcceptedAt,
    });
    expect(noticeOf(box, beside({ ...refused, refusedAt: 'soon' }))).toBeNull();
    expect(noticeOf(box, beside({ ...refused, code: null }))).toBeNull();
  });

  it('names the machine as it was named when it happened (O24)', () => {
    const named = known(admitted({ name: null }), { type: 'NameAdopted', name: 'ip-10' });
    const renamed = learn(named, { type: 'MachineRenamed', name: 'build-box' });
    expect(data(noticeOf(named, recorded(deleted())))).toMatchObject({ name: 'ip-10' });
    expect(data(noticeOf(renamed, recorded(deleted())))).toMatchObject({ name: 'build-box' });
  });

  it('of a test is about no machine', () =>
    expect(
      testNotice({ ...recorded({ type: 'WebhookTestRequested' }), stream: 'webhook-w1' }, 'w1', 'ada'),
    ).toMatchObject({
      type: 'webhook.test',
      owner: 'ada',
      machine: null,
      body: expect.stringContaining('"webhook":"w1"'),
    }));

  it('is sent of nothing else, and of nothing that cannot be read', () => {
    const silence = wentAbsent();
    for (const event of [
      { type: 'MachineRenamed', name: 'other' },
      { type: 'MachineDreamt' },
      { ...silence, window: 'long' },
      { ...silence, dueAt: 5 },
      { ...silence, dueAt: 'tomorrow' },
      { ...silence, lastCheckAt: null },
      { type: 'Returned' },
      { type: 'Returned', absentFor: -1 },
      { type: 'GenerationConfirmed', generation: 'two' },
      { type: 'BlockersChanged', blockers: 'disk-full' },
      { type: 'BlockersChanged' },
    ])
      expect([event, noticeOf(box, recorded(event))]).toEqual([event, null]);
    expect(noticeOf(UNKNOWN, recorded(deleted()))).toBeNull();
    expect(noticeOf(UNKNOWN, recorded({ type: 'MachineAdmitted', owner: 5 }))).toBeNull();
    expect(known(admitted({ name: 'box' }), { type: 'MachineRenamed' })).toMatchObject({ name: 'box' });
  });

  it('stays below what may be sent, whatever the machine says', () => {
    const codes = Array.from({ length: 2_000 }, (_, index) => `${index}${'\u0007'.repeat(90)}`);
    const endless = known(admitted({ name: '\ud83d'.repeat(9_000) }));
    const notice = noticeOf(endless, recorded(blockers(...codes, 'y'.repeat(30_000))));
    expect(Buffer.byteLength(notice?.body ?? '')).toBeLessThan(20_000);
    expect((data(notice) as { blockers: unknown[] }).blockers).toHaveLength(16);
  });

  it('can be every type that an endpoint may ask for, but the one that no event makes', () =>
    expect(new Set([...Object.values(TYPES_OF).flat(), 'fleet.silence'])).toEqual(new Set(SUBSCRIBABLE)));
});

describe('an endpoint', () => {
  const endpoint: Endpoint = {
    endpoint: 'w1',
    owner: 'ada',
    events: ['machine.absent', 'machine.deleted'],
    promisedOnly: false,
    firstBatch: 40n,
  };
  const absent = noticeOf(box, recorded(wentAbsent()))!;
  const gone = noticeOf(box, recorded(deleted()))!;

  it('is told what it has asked for, of the machines of its owner (U1, U5)', () => {
    expect(isTold(endpoint, absent, 41n)).toBe(true);
    expect(isTold({ ...endpoint, events: ['machine.deleted'] }, absent, 41n)).toBe(false);
    expect(isTold({ ...endpoint, owner: 'eve' }, absent, 41n)).toBe(false);
  });

  it('is told nothing that was recorded before it was there, or together with it (U5)', () => {
    expect(isTold(endpoint, absent, 39n)).toBe(false);
    expect(isTold(endpoint, absent, 40n)).toBe(false);
  });

  it('that wants broken promises only is told no other silence, and everything else (N11)', () => {
    const strict = { ...endpoint, promisedOnly: true };
    expect(isTold(strict, absent, 41n)).toBe(false);
    expect(isTold(strict, { ...absent, promised: true }, 41n)).toBe(true);
    expect(isTold(strict, gone, 41n)).toBe(true);
  });

  it('is what its event says, as far as this version knows it', () => {
    const id = '0192f0c4-0000-7000-8000-0000000000aa';
    const event = {
      type: 'WebhookEndpointAdded',
      owner: 'ada',
      host: 'example.org',
      events: ['from.the.future', 'machine.absent'],
      promisedOnly: true,
    };
    expect(endpointIn(id, event, 5n)).toEqual({
      endpoint: id,
      owner: 'ada',
      host: 'example.org',
      events: ['machine.absent'],
      promisedOnly: true,
      firstBatch: 5n,
    });
    expect(endpointIn('w1', event, 5n)).toBeNull();
    for (const over of [{ owner: null }, { host: 'a\0b' }, { owner: '\ud800' }, { events: 'all' }])
      expect(endpointIn(id, { ...event, ...over }, 5n)).toBeNull();
    expect(endpointIn(id, { ...event, promisedOnly: 'yes' }, 5n)?.promisedOnly).toBe(false);
  });
});

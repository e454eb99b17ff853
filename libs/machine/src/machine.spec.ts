import { describe, expect, it } from '@jest/globals';
import { specFor } from '@rollcall/decider/testing';
import { machineIdOf, machineStream } from './commands.js';
import type { MachineFact, SelfReport } from './facts.js';
import { answerTo, machine, rotationAsked, turnOf, type RotationPolicy } from './machine.js';
import {
  admit,
  admitted,
  boot,
  check,
  checkedIn,
  confirmed,
  deleted,
  forked,
  keyHash,
  logTailReceived,
  logTailRequested,
  MACHINE_ID,
  NO_REPORT,
  registered,
  rotationRequested,
  started,
} from './testing/builders.js';

const given = specFor(machine);

const NOW = Date.UTC(2026, 0, 1, 12);
const REPORT: SelfReport = { hostname: 'ip-10-0-0-7', agentVersion: '1.0.0', platform: 'linux', arch: 'x64' };
const RUNNING: readonly MachineFact[] = [
  admitted(),
  registered(1),
  confirmed(1),
  started(),
  checkedIn({ chain: { presented: null, issued: 1 } }),
];
const second = (over: Parameters<typeof check>[0] = {}) => check({ sequence: 2, chain: 1, ...over });
const secondRecorded = (over: Parameters<typeof checkedIn>[0] = {}) =>
  checkedIn({ sequence: 2, chain: { presented: 1, issued: 2 }, ...over });

describe('admission', () => {
  it('is the redemption of a token: a machine, its first key, and what it reports', () => {
    given()
      .when(admit({ report: REPORT }))
      .then(admitted(), registered(1), { type: 'SelfReportChanged', ...REPORT });
    given()
      .when(admit({ report: NO_REPORT }))
      .then(admitted(), registered(1));
  });

  it('takes the name and the owner from the token', () => {
    const token = { ...admit().token, owner: 'person-2', name: 'lab-1' };
    given()
      .when(admit({ token }))
      .then(admitted({ owner: 'person-2', name: 'lab-1' }), registered(1));
  });

  it('is refused from the moment on that the token expires (N20)', () => {
    const { expiresAt } = admit().token;
    given()
      .when(admit(), { now: expiresAt - 1 })
      .then(admitted(), registered(1, keyHash(1), '2026-01-01T12:59:59.999Z'));
    given().when(admit(), { now: expiresAt }).thenRefused('token-refused', {});
  });

  it('is answered again to the same installation, also after the token expired and the key was rotated', () => {
    const rotated = [...RUNNING, registered(2), confirmed(2)];
    given(admitted(), registered(1)).when(admit()).thenNothing();
    given(...RUNNING)
      .when(admit({ machineId: 'made-again', report: REPORT }), { now: NOW + 7_200_000 })
      .thenNothing();
    given(...rotated)
      .when(admit())
      .thenNothing();
  });

  it.each([
    ['another token', RUNNING, admit({ token: { ...admit().token, id: 'token-2' } })],
    ['another key', RUNNING, admit({ keyHash: keyHash(9) })],
    ['a later key of the same machine', [...RUNNING, registered(2)], admit({ keyHash: keyHash(2) })],
    ['a machine that was deleted', [...RUNNING, deleted()], admit()],
  ])('refuses %s in the words of an expired token (N20)', (_what, past, command) =>
    given(...past)
      .when(command)
      .thenRefused('token-refused', {}),
  );

  it('takes the keys of the token’s redemption, the identifier and the credential', () => {
    expect(machine.claims?.(admitted())).toEqual([
      { op: 'take', key: 'redemption:token-1' },
      { op: 'take', key: 'identifier:identifier-1' },
      { op: 'take', key: 'node:node-1' },
    ]);
    expect(machine.claims?.(registered(2, 'h2'))).toEqual([{ op: 'take', key: 'credential:h2' }]);
  });

  it('names the stream of a machine by its id, and back', () => {
    expect(machineStream(MACHINE_ID)).toBe(`machine-${MACHINE_ID}`);
    expect(machineIdOf(machineStream(MACHINE_ID))).toBe(MACHINE_ID);
  });
});

describe('a check', () => {
  it('is recorded last, after everything that it changed, in one order', () =>
    given(admitted(), registered(1))
      .when(check({ name: 'ip-10-0-0-7', report: REPORT, blockers: ['disk-full'], said: 'stopping', reason: 'person' }))
      .then(
        confirmed(1),
        started(),
        { type: 'NameAdopted', name: 'ip-10-0-0-7' },
        { type: 'SelfReportChanged', ...REPORT },
        { type: 'BlockersChanged', blockers: ['disk-full'] },
        { type: 'StopAnnounced', reason: 'person' },
        checkedIn({ said: 'stopping', reason: 'person', chain: { presented: null, issued: 1 } }),
      ));

  it('is recorded when it says nothing new: it is the liveness (U1)', () =>
    given(...RUNNING)
      .when(second())
      .then(secondRecorded()));

  it('carries the generation that was presented, while two are alive (O19)', () => {
    given(...RUNNING, registered(2))
      .when(second())
      .then(secondRecorded({ generation: 1 }));
    given(...RUNNING, registered(2))
      .when(second({ keyHash: keyHash(2) }))
      .then(confirmed(2), secondRecorded({ generation: 2 }));
  });

  it('keeps no reason for running on', () =>
    given(...RUNNING)
      .when(second({ reason: 'person' }))
      .then(secondRecorded({ reason: null })));

  it('announces the stop of a new start, though the start before ended the same way (O17)', () => {
    const goodbye = checkedIn({ sequence: 2, said: 'stopping', reason: 'person' });
    given(...RUNNING, { type: 'StopAnnounced', reason: 'person' }, goodbye)
      .when(check({ boot: boot(2), said: 'stopping', reason: 'person' }))
      .then(
        started(boot(2)),
        { type: 'StopAnnounced', reason: 'person' },
        checkedIn({ boot: boot(2), said: 'stopping', reason: 'person', chain: { presented: null, issued: 1 } }),
      );
  });

  it('is not recorded twice when its answer was lost', () => {
    given(...RUNNING)
      .when(check())
      .thenNothing();
    given(...RUNNING)
      .when(check({ said: 'stopping', reason: 'signal', name: 'b' }))
      .thenNothing();
  });

  it('changes nothing when it is late: a goodbye of a start before (C17)', () => {
    const goodbye = check({ sequence: 2, said: 'stopping', reason: 'signal' });
    given(...RUNNING, started(boot(2)), checkedIn({ boot: boot(2) }))
      .when(goodbye)
      .thenRefused('stale-check', { highestBoot: 2 });
  });

  it('changes nothing when it is late: a goodbye overtaken by a newer check', () =>
    given(...RUNNING, checkedIn({ sequence: 3 }))
      .when(second({ said: 'stopping', reason: 'signal' }))
      .thenRefused('stale-check', { highestBoot: 1 }));

  it('is refused for its key before anything else about it is looked at (O5, O20)', () => {
    given().when(check()).thenRefused('credential-unknown', {});
    given(...RUNNING)
      .when(check({ keyHash: keyHash(7), sequence: 9 }))
      .thenRefused('generation-behind', {});
    given(...RUNNING)
      .when(check({ keyHash: keyHash(7) }))
      .thenRefused('generation-behind', {});
  });

  it('is not helped by a name, a report, a boot or a checkId of the real machine (O5)', () =>
    given(...RUNNING)
      .when(second({ keyHash: keyHash(7), name: 'ip-10-0-0-7', report: REPORT }))
      .thenRefused('generation-behind', {}));
});

describe('the answer to a check', () => {
  const after = (...facts: MachineFact[]) => facts.reduce(machine.evolve, machine.initial());

  it('says who the machine is, the interval and the chain number', () => {
    const checked = checkedIn({ interval: 45, chain: { presented: null, issued: 7 } });
    expect(answerTo(after(admitted({ name: 'lab-1' }), registered(1), confirmed(1), checked), boot())).toEqual({
      machine: MACHINE_ID,
      owner: 'person-1',
      name: 'lab-1',
      generation: 1,
      interval: 45,
      chain: 7,
      logTail: null,
    });
  });

  it('is the first one again for a repetition, also after the next start has checked in', () => {
    const next = checkedIn({ boot: boot(2), interval: 60, chain: { presented: 1, issued: 2 } });
    expect(answerTo(after(...RUNNING, next), boot(1))).toMatchObject({ interval: 30, chain: 1, name: null });
    expect(answerTo(after(...RUNNING, next), boot(2))).toMatchObject({ interval: 60, chain: 2 });
  });

  it('has a number to offer when a head was folded anew', () => {
    const past = [admitted(), registered(1), confirmed(1), checkedIn()];
    expect(answerTo(after(...past), boot(1)).chain).toBe(0);
    const next = checkedIn({ boot: boot(2), chain: { presented: 5, issued: 6 } });
    expect(answerTo(after(...past, next), boot(1)).chain).toBe(6);
  });

  it('is not asked for where there is no check, no machine or no key', () => {
    expect(() => answerTo(after(...RUNNING), boot(2))).toThrow('no check of this boot');
    expect(() => answerTo(after(checkedIn()), boot(1))).toThrow('no check of this boot');
    expect(() => answerTo(after(admitted(), checkedIn()), boot(1))).toThrow('without a machine');
  });
});

describe('a rename', () => {
  it('is a person’s word on a machine that exists', () => {
    given(...RUNNING)
      .when({ type: 'RenameMachine', name: 'a' })
      .then({ type: 'MachineRenamed', name: 'a' });
    given().when({ type: 'RenameMachine', name: 'a' }).thenRefused('machine-not-found', {});
    given(...RUNNING, deleted())
      .when({ type: 'RenameMachine', name: 'a' })
      .thenRefused('machine-not-found', {});
  });
});

describe('a request for the tail of the log', () => {
  const STAMP = '2026-01-01T12:00:00.000Z';
  const upload = (over = {}) => ({ type: 'ReceiveLogTail', keyHash: keyHash(1), stamp: STAMP, ...over }) as const;
  const after = (...facts: MachineFact[]) => facts.reduce(machine.evolve, machine.initial());

  it('is a person’s word on a machine that exists (O26)', () => {
    given(...RUNNING)
      .when({ type: 'RequestLogTail' }, { now: NOW })
      .then(logTailRequested(STAMP));
    given().when({ type: 'RequestLogTail' }).thenRefused('machine-not-found', {});
    given(...RUNNING, deleted())
      .when({ type: 'RequestLogTail' })
      .thenRefused('machine-not-found', {});
  });

  it('rides on each answer, a repetition’s too, until its upload (O26)', () => {
    const asked = [...RUNNING, logTailRequested(STAMP)];
    expect(answerTo(after(...asked), boot()).logTail).toBe(STAMP);
    expect(answerTo(after(...asked, secondRecorded()), boot()).logTail).toBe(STAMP);
    expect(answerTo(after(...asked, secondRecorded(), logTailReceived(STAMP)), boot()).logTail).toBeNull();
  });

  it('waits while the machine is stopped: a goodbye, a new start and a new key leave it (O26)', () => {
    const goodbye = secondRecorded({ said: 'stopping', reason: 'person' });
    const next = checkedIn({ boot: boot(2), generation: 2 });
    const state = after(...RUNNING, logTailRequested(STAMP), goodbye, registered(2), started(boot(2)), next);
    expect(answerTo(state, boot(2)).logTail).toBe(STAMP);
  });

  it('is not there on a head of the time before requests, which needs no new fold (O26)', () => {
    const { requests: _unknown, ...before } = after(...RUNNING);
    expect(answerTo(before, boot()).logTail).toBeNull();
    const moment = { now: NOW, lastCheckAt: null };
    expect(() => machine.decide(before, upload(), moment)).toThrow('request-not-pending');
    const asked = machine.decide(before, { type: 'RequestLogTail' }, moment).reduce(machine.evolve, before);
    expect(asked).toEqual(after(...RUNNING, logTailRequested(STAMP)));
  });

  it('is answered with the key that is in use, and only with that (O5, O19, O26)', () => {
    const asked = [...RUNNING, logTailRequested(STAMP)];
    given(...asked)
      .when(upload())
      .then(logTailReceived(STAMP));
    given(...asked)
      .when(upload({ keyHash: keyHash(7) }))
      .thenRefused('generation-behind', {});
    given(...asked, registered(2))
      .when(upload({ keyHash: keyHash(2) }))
      .then(confirmed(2), logTailReceived(STAMP));
    given().when(upload()).thenRefused('credential-unknown', {});
  });
});

describe('a rotation', () => {
  it('registers the next key (O19)', () =>
    given(...RUNNING)
      .when({ type: 'StartRotation', keyHash: keyHash(1), nextKeyHash: keyHash(2) })
      .then(registered(2)));
});

describe('deletion is the end (O31)', () => {
  const DELETED = [...RUNNING, deleted()];

  it('is one fact, once', () => {
    given(...RUNNING)
      .when({ type: 'DeleteMachine' })
      .then(deleted());
    given(...DELETED)
      .when({ type: 'DeleteMachine' })
      .thenNothing();
    given().when({ type: 'DeleteMachine' }).thenRefused('machine-not-found', {});
  });

  it('frees the identifier and keeps the credentials known', () => {
    expect(machine.claims?.(deleted())).toContainEqual({ op: 'release', key: 'identifier:identifier-1' });
  });

  it.each([
    ['a new check', second()],
    ['the repetition of the last check', check()],
    ['a late check', check({ sequence: 0 })],
    ['a check of a new start', check({ boot: boot(2) })],
    ['a goodbye because of the revocation', second({ said: 'stopping', reason: 'revocation' })],
    ['a rotation', { type: 'StartRotation', keyHash: keyHash(1), nextKeyHash: keyHash(2) } as const],
    ['an upload', { type: 'ReceiveLogTail', keyHash: keyHash(1), stamp: '2026-01-01T12:00:00.000Z' } as const],
  ])('refuses %s, so nothing brings the machine back (O31)', (_what, command) =>
    given(...DELETED)
      .when(command)
      .thenRefused('credential-revoked', {}),
  );
});

it('knows nothing of a machine before its first fact', () => {
  expect(machine.initial()).toStrictEqual({
    enrolment: null,
    credential: { status: 'unknown', current: null, pending: null, previous: null, highest: 0 },
    name: null,
    report: NO_REPORT,
    blockers: [],
    lastWord: null,
    boots: [],
    checkIns: { window: null, chain: null, generation: null },
    requests: { logTail: null, logTailReceived: null, rotation: null },
    absence: null,
    pause: null,
    labels: {},
    copies: null,
  });
});

describe('a fact of an unknown type', () => {
  it('changes nothing and claims nothing', () => {
    const unknown = {
      ...checkedIn({ sequence: 9 }),
      type: 'MachinePainted',
      name: 'x',
      hostname: 'x',
    } as unknown as MachineFact;
    const state = RUNNING.reduce(machine.evolve, machine.initial());
    expect(machine.evolve(state, unknown)).toEqual(state);
    expect(machine.claims?.(unknown)).toEqual([]);
  });

  it('does not bring a machine into being that was never admitted', () => {
    const strays: MachineFact[] = [deleted(), registered(1)];
    for (const stray of strays) expect(machine.evolve(machine.initial(), stray).enrolment).toBeNull();
  });
});

describe('whether an answer asks for a rotation (O19, N26)', () => {
  const after = (...facts: MachineFact[]) => facts.reduce(machine.evolve, machine.initial());
  const DAY = 86_400_000;
  const NOON = Date.UTC(2026, 0, 1, 12);
  const old = after(admitted(), registered(1), confirmed(1));
  const yearly: RotationPolicy = { afterDays: 365, since: 0 };
  const DUE = Math.floor(NOON + 365 * DAY * (1 - 0.1 * turnOf(MACHINE_ID)));

  it('follows a person’s request, whatever the age', () => {
    const asked = after(admitted(), registered(1), confirmed(1), rotationRequested('2026-01-02T00:00:00.000Z', 1));
    for (const afterDays of [null, 1])
      expect(rotationAsked(asked, { afterDays, since: 0 }, NOON + 9 * DAY)).toBe('2026-01-02T00:00:00.000Z');
  });

  it('follows the age of the current generation, and asks no machine later than the policy names', () => {
    expect(rotationAsked(old, yearly, DUE - 1)).toBeNull();
    expect(rotationAsked(old, yearly, DUE)).toBe(new Date(DUE).toISOString());
    expect(rotationAsked(old, { ...yearly, afterDays: null }, NOON + 9_999 * DAY)).toBeNull();
  });

  it('asks a fleet that was set up on one day over a tenth of the age, and one that is too old already over an hour', () => {
    const ids = Array.from(
      { length: 1_000 },
      (_, index) => `0193${String(index).padStart(4, '0')}-0000-7000-8000-000000000001`,
    );
    const fleet = ids.map((id) => after(admitted({ machine: id }), registered(1), confirmed(1)));
    const asked = (policy: RotationPolicy, at: number) =>
      fleet.filter((state) => rotationAsked(state, policy, at) !== null).length;
    const shares = [0, 0.25, 0.5, 0.75, 1].map((part) => asked(yearly, NOON + 365 * DAY * (0.9 + 0.1 * part)));
    const late = [0, 0.25, 0.5, 0.75, 1].map((part) =>
      asked({ afterDays: 365, since: NOON + 900 * DAY }, NOON + 900 * DAY + 3_600_000 * part),
    );
    for (const counts of [shares, late])
      for (const [quarter, count] of counts.entries()) expect(Math.abs(count - 250 * quarter)).toBeLessThan(60);
    expect([shares.at(-1), late.at(-1)]).toEqual([1_000, 1_000]);
  });

  it('asks nobody while a copy stands, neither for a person nor by age: both would be asked, and the quicker one would stay (B2)', () => {
    const asked = rotationRequested('2026-01-02T00:00:00.000Z', 1);
    const past = [admitted(), registered(1), confirmed(1), asked, forked()];
    expect(rotationAsked(after(...past), { afterDays: 1, since: 0 }, NOON + 999 * DAY)).toBeNull();
    given(...past)
      .when({ type: 'RequestRotation' })
      .thenRefused('duplicate-installation');
    expect(rotationAsked(after(...past, registered(2), confirmed(2)), yearly, NOON)).toBeNull();
    expect(rotationAsked(after(...past, registered(2), confirmed(2)), yearly, DUE)).not.toBeNull();
  });

  it('takes a generation of an unknown age for an old one, and a machine that never arrived for none', () => {
    expect(
      rotationAsked(after(admitted(), registered(1, keyHash(1), null), confirmed(1)), yearly, NOON),
    ).not.toBeNull();
    expect(rotationAsked(after(admitted(), registered(1)), yearly, NOON + 999 * DAY)).toBeNull();
  });

  it('is no reason to refuse the old key, however long its machine was away (N26)', () => {
    given(admitted(), registered(1), confirmed(1))
      .when(check(), { now: NOON + 3_650 * DAY })
      .thenState({
        credential: {
          current: { generation: 1, keyHash: keyHash(1), registeredAt: '2026-01-01T12:00:00.000Z' },
          pending: null,
          previous: null,
          highest: 1,
          status: 'live',
        },
      });
  });
});

it('takes a request to rotate for every generation that is registered, also a pending one', () => {
  given(admitted(), registered(1), confirmed(1), registered(2))
    .when({ type: 'RequestRotation' }, { now: Date.UTC(2026, 0, 2) })
    .then(rotationRequested('2026-01-02T00:00:00.000Z', 2));
  given(admitted(), registered(1), deleted()).when({ type: 'RequestRotation' }).thenRefused('machine-not-found');
});

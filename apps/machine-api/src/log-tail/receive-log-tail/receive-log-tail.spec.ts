import { afterAll, beforeAll, expect, it } from '@jest/globals';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { Refusal } from '@rollcall/decider';
import { InMemoryEventStore } from '@rollcall/event-store/testing';
import { InMemoryLogTails } from '@rollcall/log-tails/testing';
import { machineStream } from '@rollcall/machine';
import { LOG_TAIL_LIMIT_BYTES, makeSecret } from '@rollcall/wire';
import { randomUUID } from 'node:crypto';
import {
  check,
  checkBody,
  deleteMachine,
  enrol,
  instanceOn,
  issueToken,
  newInstallation,
  requestLogTail,
  rotate,
  upload,
} from '../../testing/plane.js';

/** Lets something happen between the look at the record and the decision, where another instance is quicker. */
class InterruptedLogTails extends InMemoryLogTails {
  meanwhile: (() => Promise<unknown>) | null = null;
  /** The machines of which something was ever kept. */
  readonly written: string[] = [];

  override async keep(tail: Parameters<InMemoryLogTails['keep']>[0]): Promise<void> {
    this.written.push(tail.machine);
    await super.keep(tail);
    const { meanwhile } = this;
    this.meanwhile = null;
    await meanwhile?.();
  }
}

// One plane of two instances; each test brings its own machine.
const store = new InMemoryEventStore({ now: () => Date.UTC(2026, 0, 1, 12) });
const tails = new InterruptedLogTails();
let app: NestFastifyApplication;
let second: NestFastifyApplication;
beforeAll(async () => {
  app = await instanceOn(store, { tails });
  second = await instanceOn(store, { tails });
});
afterAll(async () => {
  await Promise.all([app.close(), second.close()]);
  await store.close();
});

/** A machine that has checked in once, and what is asked of it by the next answer. */
const checkedIn = async () => {
  const installation = newInstallation();
  const { body } = await enrol(app, await issueToken(store), installation);
  const { credential } = installation;
  const { id } = body.machine;
  let sequence = 0;
  const asked = async (on = app, over = {}): Promise<string | null> =>
    (await check(on, credential, checkBody({ sequence: (sequence += 1), checkId: randomUUID(), ...over }))).body
      .requests.logTail;
  await asked();
  const facts = async () =>
    (await store.readStream(machineStream(id))).map((fact) => (fact.kind === 'event' ? fact.event.type : 'CheckedIn'));
  return { id, credential, asked, facts, request: () => requestLogTail(store, id) };
};
const kept = async (id: string, stamp: string) => (await tails.read(id, stamp))?.bytes.toString() ?? null;
const REFUSED = { status: 409, body: { code: 'request-not-pending' } };

it('takes an upload once per stamp, on any instance, and no answer asks for it any more (O26, U9)', async () => {
  const { id, credential, asked, request } = await checkedIn();
  const stamp = await request();
  expect(await asked(second)).toBe(stamp);
  expect(await upload(app, credential, stamp, 'first\n')).toMatchObject({ status: 200, body: { logTail: stamp } });
  expect([await asked(app), await asked(second)]).toEqual([null, null]);
  expect(await upload(second, credential, stamp, 'second\n')).toMatchObject(REFUSED);
  expect(await kept(id, stamp)).toBe('first\n');
});

it('refuses an upload for a request that a newer one has overlapped, and goes on asking for the newer (O26, I16)', async () => {
  const { id, credential, asked, request } = await checkedIn();
  const older = await request();
  expect(await asked()).toBe(older);
  const newer = await request();
  expect(await upload(app, credential, older)).toMatchObject(REFUSED);
  expect(tails.written).not.toContain(id);
  expect(await asked(second)).toBe(newer);
  expect(await upload(second, credential, newer, 'newer')).toMatchObject({ status: 200 });
  expect(await asked()).toBeNull();
});

it('keeps nothing of an upload that a newer request overlaps in its last moment (O26, I16)', async () => {
  const { id, credential, asked, request } = await checkedIn();
  const older = await request();
  tails.meanwhile = request;
  expect(await upload(app, credential, older)).toMatchObject(REFUSED);
  expect(tails.stampsOf(id)).toEqual([]);
  expect(await asked()).not.toBeNull();
});

it('keeps the bytes of an upload whose twin was quicker: they are the same (O26)', async () => {
  const { id, credential, request, facts } = await checkedIn();
  const stamp = await request();
  tails.meanwhile = () => upload(second, credential, stamp, 'the twin');
  expect(await upload(app, credential, stamp, 'the same')).toMatchObject(REFUSED);
  expect(await kept(id, stamp)).toBe('the same');
  expect((await facts()).filter((type) => type === 'LogTailReceived')).toHaveLength(1);
});

it('does not take a newer upload for a leftover of an older one that ends late (O26)', async () => {
  const { id, credential, request } = await checkedIn();
  const older = await request();
  const discardBefore = tails.discardBefore.bind(tails);
  let newer = '';
  tails.discardBefore = async (...leftover) => {
    tails.discardBefore = discardBefore;
    newer = await request();
    await tails.keep({ machine: id, stamp: newer, bytes: Buffer.from('newer') });
    await discardBefore(...leftover);
  };
  expect(await upload(app, credential, older)).toMatchObject({ status: 200 });
  expect(await upload(second, credential, newer)).toMatchObject({ status: 200 });
  expect([await kept(id, older), await kept(id, newer)]).toEqual([null, 'newer']);
});

it('waits while the machine is stopped, and is answered by the next start (O26)', async () => {
  const { credential, asked, request } = await checkedIn();
  expect(await asked(app, { said: 'stopping', reason: 'person' })).toBeNull();
  const stamp = await request();
  const boot = { counter: 2, id: '0000000b' };
  expect(await asked(second, { boot })).toBe(stamp);
  expect(await upload(app, credential, stamp)).toMatchObject({ status: 200 });
  expect(await asked(app, { boot })).toBeNull();
});

it('keeps the bytes while nobody knows whether the receipt was recorded (O26)', async () => {
  const { id, credential, asked, request } = await checkedIn();
  const stamp = await request();
  const { decide } = store;
  tails.meanwhile = () => {
    store.decide = () => Promise.reject(new Refusal('unavailable', { retryAfter: 1 }));
    return Promise.resolve();
  };
  expect(await upload(app, credential, stamp, 'once')).toMatchObject({ status: 503 });
  store.decide = decide;
  expect(await asked()).toBe(stamp);
  expect(await upload(app, credential, stamp, 'twice')).toMatchObject({ status: 200 });
  expect(await kept(id, stamp)).toBe('once');
});

it('takes it by the machine’s credential only: not an unknown, a retired, another machine’s or a deleted one’s (O5, O20, O31)', async () => {
  const { id, credential, request, facts } = await checkedIn();
  const stamp = await request();
  const other = await checkedIn();
  expect((await upload(app, makeSecret('rcm'), stamp)).body.code).toBe('credential-unknown');
  expect((await upload(app, 'nonsense', stamp)).body.code).toBe('credential-unknown');
  expect((await upload(app, other.credential, stamp)).body.code).toBe('request-not-pending');
  const next = makeSecret('rcm');
  await rotate(store, id, credential, next);
  expect((await check(app, next, checkBody({ sequence: 9 }))).status).toBe(200);
  expect((await upload(app, credential, stamp)).body.code).toBe('generation-behind');
  const before = await facts();
  tails.meanwhile = () => deleteMachine(store, id);
  expect((await upload(app, next, stamp)).body.code).toBe('credential-revoked');
  expect((await upload(app, next, stamp)).body.code).toBe('credential-revoked');
  expect(await facts()).toEqual([...before, 'MachineDeleted']);
  expect([...tails.stampsOf(id), ...tails.stampsOf(other.id)]).toEqual([]);
});

it('takes a MiB and not a byte more, only bytes, and only here (C11)', async () => {
  const { id, credential, request } = await checkedIn();
  const stamp = await request();
  const most = Buffer.alloc(LOG_TAIL_LIMIT_BYTES, 'x');
  expect(await upload(app, credential, stamp, Buffer.concat([most, Buffer.from('x')]))).toMatchObject({
    status: 413,
    body: { code: 'too-large' },
  });
  for (const type of ['application/json', 'text/plain'])
    expect(await upload(app, credential, stamp, '{}', { 'content-type': type })).toMatchObject({
      status: 415,
      body: { code: 'unsupported-type' },
    });
  const elsewhere = { 'content-type': 'Application/Octet-Stream; x=y' };
  expect(await check(app, credential, most, elsewhere)).toMatchObject({ status: 415 });
  expect(tails.stampsOf(id)).toEqual([]);
  expect(await upload(app, credential, stamp, most)).toMatchObject({ status: 200 });
  expect((await tails.read(id, stamp))?.bytes.equals(most)).toBe(true);
});

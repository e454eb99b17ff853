import { afterAll, beforeAll, expect, it } from '@jest/globals';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { code, codeIdOf, userCodeKey } from '@rollcall/admission';
import { InMemoryEventStore } from '@rollcall/event-store/testing';
import { ManualClock } from '@rollcall/lifetimes/testing';
import { machine, machineStream } from '@rollcall/machine';
import { hashOf, makeSecret, type CodeAnswer, type EnrolmentAnswer, type Problem } from '@rollcall/wire';
import { randomUUID } from 'node:crypto';
import {
  check,
  deleteMachine,
  instanceOn,
  newInstallation,
  OWNER,
  post,
  removeOwner,
  type Installation,
} from '../testing/plane.js';

let now = Date.UTC(2026, 0, 1, 12);
const store = new InMemoryEventStore({ now: () => now });
let instances: readonly NestFastifyApplication[] = [];
beforeAll(async () => {
  instances = [
    await instanceOn(store, { verificationAddress: 'https://plane.example/codes' }),
    await instanceOn(store),
    await instanceOn(store),
  ];
});
afterAll(async () => {
  await Promise.all(instances.map((each) => each.close()));
  await store.close();
});

const on = (index: number): NestFastifyApplication => instances[index % instances.length] as NestFastifyApplication;
const ask = async (installation: Installation, profile: object = { hostname: 'forge' }): Promise<CodeAnswer> => {
  const { identifier, credential } = installation;
  const request = { identifier, credentialHash: hashOf(credential), profile };
  const { status, body } = await post<CodeAnswer>(on(0), '/v1/codes', request);
  expect(status).toBe(201);
  return body;
};
const redeem = (deviceCode: string, index = 0) =>
  post<EnrolmentAnswer & Problem>(on(index), '/v1/codes/redeem', { deviceCode });
const answer = async (
  userCode: string,
  command: 'approve' | 'refuse',
  name: string | null = null,
  node?: string,
): Promise<void> => {
  const { stream } = (await store.holder(userCodeKey(hashOf(userCode))))!;
  await store.decide(
    code,
    { stream },
    command === 'approve'
      ? { type: 'ApproveCode', owner: OWNER, name, ...(node ? { node } : {}) }
      : { type: 'RefuseCode', code: codeIdOf(stream), by: OWNER },
    { actor: { kind: 'person', id: OWNER } },
  );
};
const words = ({ status, headers, text }: Awaited<ReturnType<typeof redeem>>) => ({
  status,
  headers: { ...headers, date: null },
  text: text.replace(/"requestId":"[0-9a-f-]{36}"/, ''),
});

it('lets nobody in by an approval that was taken back before it was picked up, and takes none back afterwards (O12)', async () => {
  const [one, other] = [await ask(newInstallation()), await ask(newInstallation())];
  for (const { userCode } of [one, other]) await answer(userCode, 'approve');
  await answer(one.userCode, 'refuse');
  expect((await redeem(one.deviceCode)).body.code).toBe('code-refused');
  expect((await redeem(other.deviceCode)).status).toBe(201);
  await expect(answer(other.userCode, 'refuse')).rejects.toThrow('redemption');
});

it('lets an installation in whose code a person approved, with the credential that it made itself (O12, O5)', async () => {
  const installation = newInstallation();
  const { userCode, deviceCode, ...terms } = await ask(installation);
  expect(terms).toEqual({ verificationAddress: 'https://plane.example/codes', expiresIn: 600, interval: 5 });
  expect(userCode).toMatch(/^[BCDFGHJKLMNPQRSTVWXZ]{4}-[BCDFGHJKLMNPQRSTVWXZ]{4}$/);
  expect((await redeem(deviceCode)).body.code).toBe('code-pending');
  expect((await check(on(1), installation.credential)).body.code).toBe('credential-unknown');
  await answer(userCode, 'approve', 'forge');
  const { status, body } = await redeem(deviceCode, 1);
  expect([status, body.machine.name, body.machine.owner]).toEqual([201, 'forge', OWNER]);
  expect((await check(on(2), installation.credential)).body.machine.id).toBe(body.machine.id);
  const [admission] = await store.readStream(machineStream(body.machine.id));
  expect(admission).toMatchObject({ actor: { kind: 'person', id: OWNER }, event: { via: 'code' } });
});

it('gives a node its next machine by a code that a person approved for it, with its name; whoever comes second is refused (N19, C08)', async () => {
  const first = await ask(newInstallation());
  await answer(first.userCode, 'approve', 'lathe');
  const { id } = (await redeem(first.deviceCode)).body.machine;
  const node = (await store.view(machine, { stream: machineStream(id) }))!.state.enrolment!.nodeId;
  await deleteMachine(store, id);
  const [next, late] = [await ask(newInstallation()), await ask(newInstallation())];
  for (const { userCode } of [next, late]) await answer(userCode, 'approve', null, node);
  const { status, body } = await redeem(next.deviceCode);
  expect([status, body.machine.name]).toEqual([201, 'lathe']);
  const [admission] = await store.readStream(machineStream(body.machine.id));
  expect(admission).toMatchObject({ event: { nodeId: node, succeeds: id, via: 'code' } });
  expect((await redeem(late.deviceCode)).body.code).toBe('code-refused');
});

it('tells one who asks too soon to slow down, on whichever of its questions a person has not answered (O12)', async () => {
  const { deviceCode } = await ask(newInstallation());
  const codes = [await redeem(deviceCode), await redeem(deviceCode)].map(({ body }) => body.code);
  expect(codes).toEqual(['code-pending', 'slow-down']);
});

it('answers one of 120 polls with the machine; all others, and those for expired, refused and unknown codes, are alike to the byte (C08)', async () => {
  const { userCode, deviceCode } = await ask(newInstallation());
  now += 40_000;
  await answer(userCode, 'approve');
  const polls = await Promise.all(Array.from({ length: 20 }, (_, index) => redeem(deviceCode, index)));
  for (let poll = 20; poll < 120; poll += 1) {
    now += 5_000;
    polls.push(await redeem(deviceCode, poll));
  }
  const picked = polls.filter(({ status }) => status === 201);
  expect(picked).toHaveLength(1);
  const expired = await ask(newInstallation());
  const lateApproval = await ask(newInstallation());
  await answer(lateApproval.userCode, 'approve');
  now += 600_000;
  await store.mark(0);
  const refused = await ask(newInstallation());
  await answer(refused.userCode, 'refuse');
  const others = [
    ...polls.filter(({ status }) => status !== 201),
    await redeem(expired.deviceCode),
    await redeem(lateApproval.deviceCode),
    await redeem(refused.deviceCode),
    await redeem(makeSecret('rcd')),
    await redeem('no code at all'),
  ].map(words);
  expect(others[0]?.text).toContain('"code":"code-refused"');
  expect(others).toEqual(others.map(() => others[0]));
});

it('answers a question about a code no sooner than 50 ms after it came, whatever the answer is (O12, C08)', async () => {
  const clock = new ManualClock();
  const slow = await instanceOn(store, { clock });
  try {
    const { deviceCode } = await ask(newInstallation());
    for (const asked of [deviceCode, makeSecret('rcd'), 'no code at all']) {
      let told = false;
      const answered = post<Problem>(slow, '/v1/codes/redeem', { deviceCode: asked }).finally(() => (told = true));
      await clock.whenAsleep();
      await clock.advance(49);
      expect(told).toBe(false);
      await clock.advance(1);
      expect((await answered).status).toBe(400);
    }
  } finally {
    await slow.close();
  }
});

it('keeps neither code and no credential in the record, before and after the pickup (O2, C08)', async () => {
  const installation = newInstallation();
  const { userCode, deviceCode } = await ask(installation);
  await answer(userCode, 'approve');
  await redeem(deviceCode);
  const dump = JSON.stringify(await store.readBatches(0n, 10_000), (_, value: unknown) =>
    typeof value === 'bigint' ? String(value) : value,
  );
  for (const secret of [userCode, deviceCode, installation.credential, installation.identifier])
    expect(dump).not.toContain(secret);
  expect(dump).toContain(hashOf(installation.credential));
});

it('tells an installation whose pickup was lost who it is when it checks in (O12)', async () => {
  const installation = newInstallation();
  const { userCode, deviceCode } = await ask(installation);
  await answer(userCode, 'approve');
  const lost = await redeem(deviceCode);
  expect((await redeem(deviceCode)).body.code).toBe('code-refused');
  expect((await check(on(2), installation.credential)).body.machine.id).toBe(lost.body.machine.id);
});

it('lets nobody in under the identifier of a machine that lives, shows the claim there, and keeps the code good (O18, C03)', async () => {
  const first = newInstallation();
  const taken = await ask(first);
  await answer(taken.userCode, 'approve');
  const { id } = (await redeem(taken.deviceCode)).body.machine;
  const copy = { ...newInstallation(), identifier: first.identifier };
  const { userCode, deviceCode } = await ask(copy);
  await answer(userCode, 'approve');
  expect((await redeem(deviceCode)).body.code).toBe('identifier-in-use');
  expect((await store.view(machine, { stream: machineStream(id) }))?.state.refusedClaims).toBeDefined();
  await deleteMachine(store, id);
  expect((await redeem(deviceCode)).status).toBe(201);
});

it('names the field of a body that is not valid', async () => {
  const { status, body } = await post<Problem>(on(0), '/v1/codes', { identifier: randomUUID(), credentialHash: 'x' });
  expect([status, body.code, body.errors?.[0]?.field]).toEqual([422, 'invalid-body', 'credentialHash']);
});

// The last one: nobody is let in here any more after it.
it('lets nobody in by the word of somebody who was removed since (O3)', async () => {
  const { userCode, deviceCode } = await ask(newInstallation());
  await answer(userCode, 'approve');
  await removeOwner(store);
  expect((await redeem(deviceCode)).body.code).toBe('code-refused');
});

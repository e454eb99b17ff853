import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, it, jest } from '@jest/globals';
import { token, tokenStream } from '@rollcall/admission';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { hashOf, makeSecret, type MachineDetail, type MachineList, type Why } from '@rollcall/wire';
import { startOperatorPlane, type OperatorPlane } from '../../../test/support/operator-plane.js';
import { RecordClock } from '../../../test/support/record-clock.js';
import { askAs, type Ask } from '../../../test/support/signed-in.js';
import { check, checkBody, enrol, instanceOn, newInstallation, rotate } from './testing/plane.js';

jest.setTimeout(60_000);

let plane: OperatorPlane;
let ask: Ask;
let clock: RecordClock;
let api: NestFastifyApplication;

beforeAll(async () => {
  plane = await startOperatorPlane();
  ask = await askAs(plane);
  clock = await RecordClock.of(plane);
  api = await instanceOn(plane.store);
});
afterAll(async () => {
  await api.close();
  await clock[Symbol.asyncDispose]();
  await plane.close();
});

/** One of several that hold the same credential: what it does is what the agent does. */
class Copy {
  #counter: number;
  #bootId = randomUUID().slice(0, 8);
  #sequence = 0;

  constructor(
    private credential: string,
    private chain: string | null,
    start: number,
  ) {
    this.#counter = start;
  }

  /** Checks in, and once more where the plane knows a later start. */
  async check(): Promise<string> {
    const { status, body } = await this.#send();
    if (body.code === 'stale-check') {
      this.#counter = Number(body['highestBoot']) + 1;
      this.#bootId = randomUUID().slice(0, 8);
      this.#sequence = 0;
      return this.check();
    }
    if (status === 200) this.chain = body.chain;
    return status === 200 ? 'accepted' : body.code;
  }

  /** Registers its next credential and goes on with that. */
  async rotate(machine: string): Promise<void> {
    const next = makeSecret('rcm');
    await rotate(plane.store, machine, this.credential, next);
    this.credential = next;
  }

  /** Another one, that starts from the same disk. */
  copied(): Copy {
    return new Copy(this.credential, this.chain, this.#counter + 1);
  }

  #send() {
    this.#sequence += 1;
    const boot = { counter: this.#counter, id: this.#bootId };
    return check(api, this.credential, checkBody({ boot, sequence: this.#sequence, chain: this.chain, blockers: [] }));
  }
}

const admitted = async (): Promise<{ machine: string; original: Copy }> => {
  const secret = makeSecret('rce');
  await plane.store.decide(
    token,
    { stream: tokenStream(randomUUID()) },
    { type: 'IssueToken', tokenHash: hashOf(secret), owner: plane.personId, name: 'forge', expiresIn: 900 },
    { actor: { kind: 'person', id: plane.personId } },
  );
  const installation = newInstallation();
  const { body } = await enrol(api, secret, installation);
  return { machine: body.machine.id, original: new Copy(installation.credential, null, 1) };
};

const shown = async (machine: string): Promise<MachineDetail['machine']> => {
  await plane.caughtUp();
  return (await ask<MachineDetail>('GET', `/v1/machines/${machine}`)).body.machine;
};
const codes = ({ blockers }: MachineDetail['machine']) => blockers.map(({ code }) => code);

it('tells of two machines on one copied credential once, keeps work from both, and leaves the copy behind by a rotation (C01, B2)', async () => {
  const { machine, original } = await admitted();
  for (let generation = 1; generation < 4; generation += 1) {
    expect(await original.check()).toBe('accepted');
    await original.rotate(machine);
  }
  expect(await original.check()).toBe('accepted');
  expect(await shown(machine)).toMatchObject({ generation: 4, canTakeWork: true, blockers: [] });

  const copy = original.copied();
  for (let round = 1; round <= 20; round += 1) {
    for (const one of [copy, original]) {
      await clock.pass(15);
      expect(await one.check()).toBe('accepted');
    }
    // Copy, original, copy, original: these are three alternations.
    if (![2, 11, 20].includes(round)) continue;
    const there = await shown(machine);
    expect(there).toMatchObject({ presence: 'present', lifecycle: 'running', canTakeWork: false });
    expect(codes(there)).toEqual(['duplicate-installation']);
  }
  const { machines } = (await ask<MachineList>('GET', '/v1/machines')).body;
  expect(machines.map(({ id }) => id)).toEqual([machine]);
  const told = (await plane.store.readStream(`machine-${machine}`))
    .flatMap((fact) => (fact.kind === 'event' ? [fact.event.type] : []))
    .filter((type) => ['CredentialForked', 'BlockersChanged', 'WentAbsent', 'Returned'].includes(type));
  expect(told).toEqual(['CredentialForked']);

  await original.rotate(machine);
  await clock.pass(15);
  expect(await copy.check()).toBe('accepted');
  await clock.pass(15);
  expect(await original.check()).toBe('accepted');
  expect(await shown(machine)).toMatchObject({ generation: 5, canTakeWork: true, blockers: [] });
  for (let round = 0; round < 3; round += 1) {
    await clock.pass(15);
    expect(await copy.check()).toBe('generation-behind');
    await expect(copy.rotate(machine)).rejects.toThrow('generation-behind');
    expect(await original.check()).toBe('accepted');
  }
  expect(await shown(machine)).toMatchObject({ generation: 5, canTakeWork: true, blockers: [] });
});

it('asks neither of two copies for a rotation, and shows after one by the wrong one that the other still uses the older credential (C01, B2)', async () => {
  const { machine, original } = await admitted();
  const path = `/v1/machines/${machine}`;
  const ofOlderUse = async () => {
    await plane.caughtUp();
    const [{ body: detail }, { body: why }] = [
      await ask<MachineDetail>('GET', path),
      await ask<Why>('GET', `${path}/why`),
    ];
    return [detail.olderUse, /an older credential of it \(generation 1\).*delete the machine/.test(why.sentence)];
  };
  expect(await original.check()).toBe('accepted');
  const copy = original.copied();
  for (const one of [copy, original, copy, original]) expect(await one.check()).toBe('accepted');
  expect(codes(await shown(machine))).toEqual(['duplicate-installation']);
  expect(await ask('POST', `${path}/rotation-requests`, { commandId: randomUUID() })).toMatchObject({
    status: 409,
    body: { code: 'duplicate-installation', title: expect.stringContaining('rollcall-agent rotate') },
  });

  await copy.rotate(machine);
  expect(await copy.check()).toBe('accepted');
  expect(codes(await shown(machine))).toEqual([]);
  expect(await ofOlderUse()).toEqual([null, false]);
  await clock.pass(15);
  expect(await original.check()).toBe('generation-behind');
  expect(await ofOlderUse()).toEqual([{ generation: 1, at: expect.any(String) }, true]);
});

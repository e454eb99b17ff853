import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import type {
  BlockerList,
  LabelAnswer,
  MachineDetail,
  MachineList,
  PauseAnswer,
  Problem,
  PromiseAnswer,
  PromiseList,
  PromisedPresence,
  Readiness,
  Why,
} from '@rollcall/wire';
import { startOperatorPlane, type OperatorPlane } from '../../../../test/support/operator-plane.js';
import { askAs, type Ask } from '../../../../test/support/signed-in.js';

jest.setTimeout(60_000);

let plane: OperatorPlane;
let ask: Ask;

beforeAll(async () => {
  plane = await startOperatorPlane();
  ask = await askAs(plane);
});
afterAll(() => plane.close());

const detail = async (machine: string) => {
  await plane.caughtUp();
  return (await ask<MachineDetail>('GET', `/v1/machines/${machine}`)).body.machine;
};
const episodes = async (machine: string) =>
  (await ask<Readiness>('GET', `/v1/machines/${machine}/readiness`)).body.episodes;

describe('a pause', () => {
  const pause = (machine: string, body: object) =>
    ask<PauseAnswer>('POST', `/v1/machines/${machine}/pause`, { commandId: randomUUID(), ...body });
  const resume = (machine: string) =>
    ask<PauseAnswer>('DELETE', `/v1/machines/${machine}/pause`, { commandId: randomUUID() });

  it('keeps a machine from work with a note, is shown and counted as a blocker, and is cleared only by its own verb', async () => {
    const machine = await plane.join({ name: 'paused' });
    await machine.check({ blockers: [] });
    await plane.caughtUp();
    const commandId = randomUUID();
    const answered = { machine: { id: machine.id, pause: { note: 'a new disk', until: null } } };
    for (let attempt = 0; attempt < 2; attempt += 1)
      expect(await pause('paused', { commandId, note: ' a new disk ' })).toEqual({ status: 200, body: answered });
    await machine.check({ blockers: ['operator-paused'] });
    await machine.check({ blockers: [], boot: { counter: 2, id: '00000002' } });

    const shown = await detail(machine.id);
    expect(shown).toMatchObject({
      canTakeWork: false,
      sentence: 'present, but cannot take work: a person has paused it (operator-paused)',
      pause: { note: 'a new disk', until: null, by: plane.personId },
      blockers: [{ code: 'operator-paused', since: shown.pause?.since }],
    });
    const { blockers } = (await ask<BlockerList>('GET', '/v1/blockers')).body;
    expect(blockers).toMatchObject([{ code: 'operator-paused', machines: 1, visibleWithin: 30 }]);
    expect(await episodes(machine.id)).toMatchObject([{ code: 'operator-paused', until: null }]);

    expect((await resume(machine.id)).body).toEqual({ machine: { id: machine.id, pause: null } });
    expect((await resume(machine.id)).body).toEqual({ machine: { id: machine.id, pause: null } });
    expect(await detail(machine.id)).toMatchObject({ canTakeWork: true, pause: null, blockers: [] });
    expect((await ask<BlockerList>('GET', '/v1/blockers')).body.blockers).toEqual([]);
    expect(await episodes(machine.id)).toMatchObject([{ code: 'operator-paused', until: expect.any(String) }]);
  });

  it('is for a time that is given as such, or as a length from now on', async () => {
    const { id } = await plane.join();
    const until = '2126-01-01T12:00:00+02:00';
    expect((await pause(id, { note: 'for long', until })).body.machine.pause?.until).toBe('2126-01-01T10:00:00.000Z');
    const { recordedAt } = await plane.store.newest();
    const answer = await pause(id, { note: 'for an hour', for: 3_600 });
    const length = Date.parse(answer.body.machine.pause?.until ?? '') - recordedAt;
    expect(length).toBeGreaterThanOrEqual(3_600_000);
    expect(length).toBeLessThan(3_660_000);
  });

  it.each([
    ['note', { note: '' }],
    ['note', { note: 'n'.repeat(201) }],
    ['note', { note: 'exe\u202egpj' }],
    ['note', {}],
    ['until', { note: 'n', until: '2126-01-01T12:00:00' }],
    ['until', { note: 'n', until: 'noon' }],
    ['for', { note: 'n', for: 59 }],
    ['for', { note: 'n', for: 3_600, until: '2126-01-01T12:00:00Z' }],
  ])('names the field %s of a body that is not valid: %j', async (field, body) => {
    const { id } = await plane.join();
    const answer = (await pause(id, body)) as unknown as { status: number; body: Problem };
    expect([answer.status, answer.body.errors?.map((error) => error.field)]).toEqual([422, [field]]);
  });

  it('cannot be over before it begins, and is not for machines of others or such that are gone', async () => {
    const mine = await plane.join();
    expect(await pause(mine.id, { note: 'n', until: '2020-01-01T00:00:00Z' })).toMatchObject({
      status: 422,
      body: { code: 'pause-already-over' },
    });
    const theirs = await plane.join({ owner: randomUUID() });
    await ask('DELETE', `/v1/machines/${mine.id}`, { commandId: randomUUID() });
    for (const { id } of [mine, theirs])
      for (const answer of [await pause(id, { note: 'n' }), await resume(id)])
        expect(answer).toMatchObject({ status: 404, body: { code: 'machine-not-found' } });
  });
});

describe('labels', () => {
  const label = (machine: string, body: object) =>
    ask<LabelAnswer>('PATCH', `/v1/machines/${machine}/labels`, { commandId: randomUUID(), ...body });

  it('are attached and taken away one by one, are shown, and narrow the list', async () => {
    const [one, other] = [await plane.join({ name: 'labelled-1' }), await plane.join({ name: 'labelled-2' })];
    const commandId = randomUUID();
    for (let attempt = 0; attempt < 2; attempt += 1)
      expect((await label(one.id, { commandId, set: { site: 'north', rack: 'b7' } })).body).toEqual({
        machine: { id: one.id, labels: { rack: 'b7', site: 'north' } },
      });
    expect((await label(one.id, { set: { rack: 'a = "b"' }, remove: ['unknown'] })).status).toBe(200);
    expect((await label(other.id, { set: { site: 'north', spare: 'yes' } })).status).toBe(200);
    expect((await label(other.id, { remove: ['spare'] })).body.machine.labels).toEqual({ site: 'north' });
    expect((await detail(one.id)).labels).toEqual({ rack: 'a = "b"', site: 'north' });
    const named = async (label: string) => {
      const query = `label=${encodeURIComponent(label)}`;
      return (await ask<MachineList>('GET', `/v1/machines?${query}`)).body.machines
        .map(({ name }) => name ?? '')
        .toSorted();
    };
    expect(await named('site=north')).toEqual(['labelled-1', 'labelled-2']);
    expect(await named('rack=a = "b"')).toEqual(['labelled-1']);
    expect(await named('site=south')).toEqual([]);
  });

  it.each([
    ['set', { set: { Site: 'north' } }],
    ['set', { set: { site: '' } }],
    ['set', { set: { site: 'n'.repeat(64) } }],
    ['set', { set: { site: 7 } }],
    ['set', { set: ['site'] }],
    ['remove', { remove: ['Site'] }],
    ['remove', { remove: 'site' }],
  ])('names the field %s of a body that is not valid: %j', async (field, body) => {
    const { id } = await plane.join();
    const answer = (await label(id, body)) as unknown as { status: number; body: Problem };
    expect([answer.status, answer.body.errors?.[0]?.field]).toEqual([422, field]);
  });

  it('are refused where they are too many, and on machines of others', async () => {
    const { id } = await plane.join();
    const many = Object.fromEntries(Array.from({ length: 33 }, (_, n) => [`key-${n}`, 'x']));
    expect(await label(id, { set: many })).toMatchObject({ status: 422, body: { code: 'too-many-labels' } });
    const theirs = await plane.join({ owner: randomUUID() });
    expect(await label(theirs.id, { set: { site: 'north' } })).toMatchObject({ status: 404 });
  });
});

describe('a promise', () => {
  const set = (body: object) => ask<PromiseAnswer>('PUT', '/v1/promises', { commandId: randomUUID(), ...body });
  const remove = (body: object) => ask<PromiseAnswer>('DELETE', '/v1/promises', { commandId: randomUUID(), ...body });
  const listed = async () => (await ask<PromiseList>('GET', '/v1/promises')).body.promises;
  const promised = async (machine: string): Promise<PromisedPresence | null> => {
    await plane.caughtUp();
    return (await ask<MachineDetail>('GET', `/v1/machines/${machine}`)).body.promise;
  };

  it('is made for a label or a machine, whose own word counts more, is shown with the machine, and is taken back (N11)', async () => {
    const machine = await plane.join({ name: 'promised' });
    await machine.check();
    await ask('PATCH', `/v1/machines/${machine.id}/labels`, { commandId: randomUUID(), set: { tier: 'one' } });
    expect(await promised('promised')).toBeNull();

    const commandId = randomUUID();
    const always = { promise: { selector: 'label:tier=one', schedule: 'always' } };
    for (let attempt = 0; attempt < 2; attempt += 1)
      expect(await set({ commandId, label: 'tier=one', schedule: ' Always' })).toEqual({ status: 200, body: always });
    expect(await promised('promised')).toEqual({ promises: [always.promise], state: 'held', next: null });

    const own = (await set({ machine: 'promised', schedule: 'none' })).body.promise;
    expect(own).toEqual({ selector: expect.stringMatching(/^node:[0-9a-f-]{36}$/), schedule: 'none' });
    expect(await promised('promised')).toEqual({ promises: [own], state: 'not-now', next: null });
    expect(await listed()).toEqual([
      { selector: 'label:tier=one', schedule: 'always', machine: null, promisedNow: true },
      { ...own, machine: { id: machine.id, name: 'promised' }, promisedNow: false },
    ]);

    expect((await remove({ machine: machine.id })).body.promise).toEqual({ selector: own.selector, schedule: null });
    expect(await promised('promised')).toMatchObject({ promises: [always.promise], state: 'held' });
    await ask('DELETE', `/v1/machines/${machine.id}`, { commandId: randomUUID() });
    expect(await promised(machine.id)).toBeNull();
    for (let attempt = 0; attempt < 2; attempt += 1)
      expect((await remove({ label: 'tier=one' })).body.promise.schedule).toBeNull();
    expect(await listed()).toEqual([]);
  });

  it('is broken by a machine that is not there, and begins again by the clocks of the place (N11)', async () => {
    const { id } = await plane.join({ name: 'never-there' });
    await set({ machine: id, schedule: 'always' });
    expect(await promised('never-there')).toMatchObject({ state: 'broken' });
    const hour = new Date(Date.now() + 7_200_000).toISOString().slice(11, 13);
    await set({ machine: id, schedule: `daily ${hour}:30-${hour}:45 UTC` });
    expect(await promised('never-there')).toMatchObject({
      state: 'not-now',
      next: expect.stringContaining(`T${hour}:30:00.000Z`),
    });
    await remove({ machine: id });
  });

  it.each([
    ['schedule', { label: 'a=b', schedule: 'daily 09:00-18:00 Europe/Berln' }, '"Europe/Berln" is no time zone'],
    ['schedule', { label: 'a=b', schedule: 7 }, 'it is no text'],
    ['schedule', { label: 'a=b' }, 'it is no text'],
    ['label', { label: 'a', schedule: 'always' }, 'key=value'],
    ['machine', { schedule: 'always' }, 'one of them is needed'],
    ['machine', { schedule: 'always', label: 'a=b', machine: 'x' }, 'one of them is needed'],
  ])('names the field %s of a body that is not valid, and what is wrong: %j', async (field, body, message) => {
    const answer = (await set(body)) as unknown as { status: number; body: Problem };
    expect([answer.status, answer.body.errors?.[0]?.field]).toEqual([422, field]);
    expect(answer.body.errors?.[0]?.message).toContain(message);
  });

  it('is not for machines of others, and those of others do not count', async () => {
    const theirs = await plane.join({ owner: randomUUID() });
    expect(await set({ machine: theirs.id, schedule: 'always' })).toMatchObject({ status: 404 });
    expect(await remove({ machine: theirs.id })).toMatchObject({ status: 404 });
  });
});

describe('the answer to why', () => {
  const why = (machine: string, at?: string) =>
    ask<Why & Problem>('GET', `/v1/machines/${machine}/why${at === undefined ? '' : `?at=${encodeURIComponent(at)}`}`);

  it('names pause and promise, rests on facts, and about the past is the one that was given then (B5)', async () => {
    const machine = await plane.join({ name: 'explained' });
    const { recordedAt: before } = await plane.store.newest();
    await machine.check({ blockers: ['disk-full'] });
    await plane.caughtUp();
    const first = (await why('explained')).body;
    expect(first.sentence).toMatch(
      /^present: it checked in at .*; it cannot take work: the disk is full \(disk-full\)/,
    );
    expect(first.basis.map((basis) => ('type' in basis ? basis.type : basis.kind))).toEqual([
      'MachineAdmitted',
      'BlockersChanged',
      'check',
    ]);
    expect(first.machine).toEqual(await detail('explained'));

    await ask('POST', `/v1/machines/${machine.id}/pause`, { commandId: randomUUID(), note: 'a new disk' });
    await machine.check({ blockers: [] });
    await plane.caughtUp();
    const second = (await why('explained')).body;
    expect(second.sentence).toMatch(/; it cannot take work: a person has paused it .*: "a new disk"$/);

    for (const name of ['history', 'presence'] as const) await ask('POST', `/v1/read-models/${name}/rebuild`);
    await plane.caughtUp();
    expect((await why('explained', first.asOf ?? '')).body).toEqual(first);
    const then = (await why('explained', new Date(before).toISOString())).body;
    expect(then).toMatchObject({
      machine: { presence: 'not-yet-arrived' },
      sentence: expect.stringContaining('has not'),
    });

    await ask('PUT', '/v1/promises', { commandId: randomUUID(), machine: machine.id, schedule: 'always' });
    await plane.caughtUp();
    expect((await why('explained', new Date(before).toISOString())).body.sentence).not.toContain('promised');
  });

  it('is clear about times of which there is none (B5)', async () => {
    const { id } = await plane.join();
    await plane.caughtUp();
    expect(await why(id, '2126-01-01T00:00:00Z')).toMatchObject({
      status: 422,
      body: { code: 'time-not-recorded', detail: expect.stringContaining('The record has come to') },
    });
    expect(await why(id, '2020-01-01T00:00:00Z')).toMatchObject({
      status: 422,
      body: { code: 'not-admitted-then', detail: expect.stringContaining('Nothing was known of this machine') },
    });
    expect((await why(id, 'noon')).body.errors?.[0]?.field).toBe('at');
    expect((await why(id, '2026-01-01T00:00:00')).status).toBe(422);
  });
});

import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { machine, machineStream } from '@rollcall/machine';
import { MemoryReadModels, randomFrom } from '@rollcall/read-models/testing';
import { PinnedClient } from '@rollcall/pinned-https';
import type { MachineView, SignInAnswer } from '@rollcall/wire';
import { eventsOf, type SeenEvent } from '../../../../../test/support/event-stream.js';
import {
  startOperatorPlane,
  type JoinedMachine,
  type OperatorPlane,
} from '../../../../../test/support/operator-plane.js';
import { eventually } from '../../../../../test/support/processes.js';
import type { OperatorApi } from '../../index.js';

jest.setTimeout(60_000);

const PATH = '/v1/presence/stream';
let plane: OperatorPlane;
let session: string;
let over = new AbortController();

beforeAll(async () => {
  plane = await startOperatorPlane();
  session = await signIn();
});
afterEach(() => {
  over.abort();
  over = new AbortController();
});
afterAll(() => plane.close());

const ask = async (method: 'GET' | 'POST' | 'DELETE', path: string, bearer: string | null, body?: object) => {
  const client = new PinnedClient({ origin: plane.api.url, pins: plane.api.pins });
  const answer = await client.request({
    method,
    path,
    headers: {
      ...(bearer === null ? {} : { authorization: `Bearer ${bearer}` }),
      ...(body ? { 'content-type': 'application/json' } : {}),
    },
    ...(body ? { body: JSON.stringify(body) } : {}),
  });
  client.abandonConnections();
  return { status: answer.status, body: (answer.body === '' ? null : JSON.parse(answer.body)) as unknown };
};
const signIn = async (): Promise<string> => {
  const link = new URL(await plane.link()).hash.slice(1).split('.')[0];
  return ((await ask('POST', '/v1/sessions', null, { link })).body as SignInAnswer).session;
};
const follow = (lastEventId?: string, { at = plane.api, bearer = session, signal = over.signal } = {}) =>
  eventsOf({ origin: at.url, pins: at.pins, path: PATH, bearer, lastEventId, signal });
/** The next events that satisfy a condition, up to so many. */
const take = async (
  stream: AsyncGenerator<SeenEvent>,
  count: number,
  wanted: (event: SeenEvent) => boolean = () => true,
) => {
  const seen: SeenEvent[] = [];
  while (seen.length < count) {
    const { value, done } = await stream.next();
    if (done) break;
    if (wanted(value)) seen.push(value);
  }
  return seen;
};
const isChange = ({ event }: SeenEvent): boolean => event === 'change';
const viewOf = ({ data }: SeenEvent): MachineView => data['machine'] as MachineView;

/** What is told of the machines of one person, by a fold of the record. */
const told = async (owner: string): Promise<readonly string[]> => {
  const fold = new MemoryReadModels();
  fold.apply(await plane.store.readBatches(0n, 1_000_000));
  return fold.changes(owner).map(({ batch, machine: id, shown }) => `${batch} ${id} ${shown.revision}`);
};
const seenAs = (event: SeenEvent): string => `${event.id?.split('.')[1]} ${viewOf(event).id} ${viewOf(event).revision}`;

describe('the stream of presence (U3)', () => {
  it('begins with the counts and the place that they stand at, and tells each change of a machine once (U3)', async () => {
    const joined = await plane.join({ name: 'streamed' });
    // Until somebody listens nothing can be said of machines.
    await plane.store.mark(0);
    await plane.caughtUp();
    const stream = follow();
    const [snapshot] = await take(stream, 1);
    expect(snapshot).toMatchObject({
      event: 'snapshot',
      id: expect.stringMatching(/^[\w-]+\.\d+\.\d+$/),
      data: { behind: false, total: 1, states: [{ presence: 'not-yet-arrived', machines: 1 }] },
    });
    await joined.check();
    // Says nothing new.
    await joined.check();
    await joined.check({ blockers: ['disk-full'] });
    const [arrived, full] = await take(stream, 2, isChange);
    expect([arrived, full].map((event) => viewOf(event!))).toMatchObject([
      { id: joined.id, presence: 'present', canTakeWork: true, blockers: [] },
      { id: joined.id, presence: 'present', canTakeWork: false, blockers: [{ code: 'disk-full' }] },
    ]);
  });

  it('tells an absence and a return when they are recorded (U3, O22)', async () => {
    const joined = await plane.join();
    await joined.check();
    await plane.caughtUp();
    const stream = follow();
    await take(stream, 1);
    await plane.store.decide(
      machine,
      { stream: machineStream(joined.id) },
      { type: 'NoteSilence', heardUntil: Date.now() + 3_600_000, gapEnd: null },
      { actor: { kind: 'plane', id: 'test' }, commandId: randomUUID() },
    );
    await joined.check();
    const ours = (event: SeenEvent): boolean => isChange(event) && viewOf(event).id === joined.id;
    const changes = await take(stream, 2, ours);
    expect(changes.map((event) => viewOf(event).presence)).toEqual(['absent', 'present']);
  });

  it('tells nobody of the machines of others (U3)', async () => {
    const [mine, theirs] = [await plane.join(), await plane.join({ owner: randomUUID() })];
    await plane.caughtUp();
    const stream = follow();
    const [snapshot] = await take(stream, 1);
    await theirs.check();
    await mine.check();
    const [change] = await take(stream, 1, isChange);
    expect(viewOf(change!).id).toBe(mine.id);
    const total = snapshot?.data['total'];
    expect(await ask('GET', '/v1/presence', session)).toMatchObject({ body: { total } });
  });

  it('is the record, whole and in order, for clients that are cut off again and again and come back to any instance (U3, U9)', async () => {
    const instances: OperatorApi[] = [plane.api, await plane.another()];
    const random = randomFrom(7);
    await plane.caughtUp();
    const before = (await told(plane.personId)).length;
    const [start] = await take(follow(), 1);
    let expected: readonly string[] | null = null;
    const client = async (seed: number): Promise<readonly string[]> => {
      const dice = randomFrom(seed);
      const seen: string[] = [];
      let place = start?.id;
      // Whoever was told too much, or the same twice, is found out at once or by one more look at the end.
      for (let looks = 0; looks < 2; looks += expected !== null && seen.length >= expected.length ? 1 : 0) {
        const cut = new AbortController();
        const timer = setTimeout(() => cut.abort(), 100 + dice.below(1_400));
        let left = 1 + dice.below(9);
        try {
          for await (const event of follow(place, { at: dice.pick(instances), signal: cut.signal })) {
            if (event.id !== undefined) place = event.id;
            if (isChange(event)) seen.push(seenAs(event));
            else if (event.event !== 'heard') throw new Error(`${event.event} instead of what came after ${place}`);
            if ((left -= 1) === 0) break;
          }
        } catch (error) {
          if (!cut.signal.aborted) throw error;
        } finally {
          clearTimeout(timer);
        }
      }
      return seen;
    };
    const clients = [11, 12, 13].map(client);
    const machines: JoinedMachine[] = [];
    for (let round = 0; round < 30; round += 1) {
      if (machines.length < 6) machines.push(await plane.join({ name: `storm-${round}` }));
      await Promise.all(
        random.some(machines, 3).map((one) => one.check({ blockers: random.some(['disk-full', 'clock-wrong'], 1) })),
      );
    }
    await plane.caughtUp();
    expected = (await told(plane.personId)).slice(before);
    expect(expected.length).toBeGreaterThan(40);
    for (const seen of await Promise.all(clients)) expect(seen).toEqual(expected);
  });

  it('goes on where it was while the read model is made anew, and says nothing of the past again (U3, U7)', async () => {
    const joined = await plane.join();
    await plane.caughtUp();
    const stream = follow();
    const [snapshot] = await take(stream, 1);
    await ask('POST', '/v1/read-models/presence/rebuild', session);
    await plane.caughtUp();
    await joined.check();
    const [change] = await take(stream, 1, ({ event }) => event !== 'heard');
    expect(change).toMatchObject({ event: 'change', data: { machine: { id: joined.id, presence: 'present' } } });
    // Whoever comes back with a place from before is told the same.
    const [again] = await take(follow(snapshot?.id), 1, ({ event }) => event !== 'heard');
    expect([again?.event, again && seenAs(again)]).toEqual(['change', change && seenAs(change)]);
  });

  it.each([
    ['another record', (id: string) => id.replace(/^[\w-]+/, 'another')],
    ['the future', (id: string) => id.replace(/\.\d+\./, '.99999999.')],
    ['longer than a day ago', (id: string) => id.replace(/\d+$/, String(Date.now() - 25 * 3_600_000))],
    ['nowhere', () => 'nonsense'],
  ])(
    'tells who comes back from %s how things stand, and never leaves anything out in silence (U3)',
    async (_what, changed) => {
      const [snapshot] = await take(follow(), 1);
      const [reset] = await take(follow(changed(snapshot?.id ?? '')), 1);
      expect(reset).toMatchObject({ event: 'reset', data: { total: snapshot?.data['total'] } });
    },
  );

  it('ends with the session, on every instance, and says so (U3, U9)', async () => {
    const own = await signIn();
    const joined = await plane.join();
    await plane.caughtUp();
    const stream = follow(undefined, { at: await plane.another(), bearer: own });
    await take(stream, 1);
    await ask('DELETE', '/v1/sessions/current', own);
    await joined.check();
    const rest = await take(stream, 9, ({ event }) => event !== 'heard');
    expect(rest).toEqual([{ id: undefined, event: 'end', data: { reason: 'signed-out' } }]);
    await expect(take(follow(undefined, { bearer: own }), 1)).rejects.toThrow('answered 401');
  });

  it('ends when its instance does, which does not wait for it (U3, U9)', async () => {
    const ending = await plane.another();
    const stream = follow(undefined, { at: ending });
    const [snapshot] = await take(stream, 1);
    const closed = ending.close();
    expect(await take(stream, 9, ({ event }) => event !== 'heard')).toMatchObject([
      { event: 'end', data: { reason: 'stopping' } },
    ]);
    await closed;
    const joined = await plane.join();
    const [change] = await take(follow(snapshot?.id), 1, isChange);
    expect(viewOf(change!).id).toBe(joined.id);
  });

  it('is refused to who has too many open already (U3)', async () => {
    const at = await plane.another();
    const streams = Array.from({ length: 20 }, () => follow(undefined, { at }));
    await Promise.all(streams.map((stream) => take(stream, 1)));
    await expect(take(follow(undefined, { at }), 1)).rejects.toThrow('answered 429');
    await streams[0]?.return(undefined);
    await eventually('there is room again', () =>
      take(follow(undefined, { at }), 1).then(
        () => true,
        () => false,
      ),
    );
  });
});

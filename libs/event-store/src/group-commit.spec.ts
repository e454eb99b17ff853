import { afterEach, expect, it, jest } from '@jest/globals';
import { InMemoryEventStore, InMemoryLog, tally, type TallyCommand } from './testing/index.js';
import { interruptible } from './testing/interruptible.js';
import { ClaimTaken, LogBackedStore, OutcomeUnknown, type EventStore, type TraceAppend } from './index.js';

const actor = { kind: 'plane', id: 'test' } as const;
const say = (store: EventStore, stream: string, command: TallyCommand) =>
  store.decide(tally, { stream }, command, { actor });
const add = (store: EventStore, stream: string) => say(store, stream, { type: 'Add', amount: 1 });

afterEach(() => {
  jest.useRealTimers();
});

it('refuses at once whoever comes when the queue is full, and decides for everybody before', async () => {
  const store = new InMemoryEventStore({ queueLimit: 2 });
  const queued = [add(store, 'tally-a'), add(store, 'tally-b')];
  await expect(add(store, 'tally-c')).rejects.toMatchObject({ code: 'unavailable', details: { retryAfter: 2 } });
  expect((await Promise.all(queued)).map(({ revision }) => revision)).toEqual([1, 1]);
  expect(await store.view(tally, { stream: 'tally-c' })).toBeNull();
  await store.close();
});

it('answers a caller at its deadline, sent or still waiting, while the record says nothing', async () => {
  jest.useFakeTimers();
  const log = new InMemoryLog(() => 0);
  const append = log.append.bind(log);
  const silence = Promise.withResolvers<void>();
  log.append = (items) => silence.promise.then(() => append(items));
  const store = new LogBackedStore(log, { batchLimit: 1, deadlineMs: 1_000 });
  const callers = Promise.allSettled([add(store, 'tally-sent'), add(store, 'tally-waiting')]);
  await jest.advanceTimersByTimeAsync(1_200);
  const unavailable = { status: 'rejected', reason: { code: 'unavailable', details: { retryAfter: 2 } } };
  expect(await callers).toMatchObject([unavailable, unavailable]);
  silence.resolve();
  await jest.runAllTimersAsync();
  // What was sent may still be recorded; what waited was given up.
  expect(await store.view(tally, { stream: 'tally-sent' })).toMatchObject({ state: { total: 1 } });
  expect(await store.view(tally, { stream: 'tally-waiting' })).toBeNull();
});

it('tells of each append how many facts it recorded, and how many decisions wait meanwhile', async () => {
  const facts: number[] = [];
  const { log, before } = interruptible(new InMemoryLog(() => 0));
  const store = new LogBackedStore(log, { onAppend: (append) => facts.push(append.facts) });
  const other = new LogBackedStore(log);
  before(() => add(other, 'tally-a'));
  const callers = [add(store, 'tally-a'), add(store, 'tally-b'), add(store, 'tally-b')];
  expect(store.queued()).toBe(3);
  await Promise.all(callers);
  // The first of them met a conflict, and came again.
  expect(facts).toEqual([2, 1]);
  await store.close();
  expect(store.queued()).toBe(0);
  await other.close();
});

it('follows the append of each command that has a trace, and tells what became of that one', async () => {
  const told: unknown[] = [];
  const traceAppend: TraceAppend = (parent) => {
    told.push(`begin ${parent}`);
    return { trace: `${parent}/append`, end: (recorded) => told.push([parent, recorded]) };
  };
  const { log, before } = interruptible(new InMemoryLog(() => 0));
  const store = new LogBackedStore(log, { traceAppend });
  const other = new LogBackedStore(log);
  const follow = (stream: string, trace: string) =>
    store.decide(tally, { stream }, { type: 'Add', amount: 1 }, { actor, trace });
  before(() => add(other, 'tally-a'));
  await Promise.all([follow('tally-a', 'a'), follow('tally-b', 'b'), add(store, 'tally-c')]);
  expect(told).toEqual([
    'begin a',
    'begin b',
    ['a', null], // it met a conflict, and comes again
    ['b', { batch: 2n, facts: 2 }],
    'begin a',
    ['a', { batch: 3n, facts: 1 }],
  ]);
  expect((await log.readBatches(2n, 1)).map(({ trace }) => trace)).toEqual(['a/append']);
  await store.close();
  await other.close();
});

it('follows a command that is decided for a caller who is followed', async () => {
  const told: string[] = [];
  let current: string | null = null;
  const traceAppend: TraceAppend = (trace) => (told.push(trace), { trace, end: () => undefined });
  const store = new InMemoryEventStore({ traceAppend, currentTrace: () => current });
  await add(store, 'tally-a');
  current = 'request';
  const asked = add(store, 'tally-a');
  current = 'another request'; // while the first one waits
  await asked;
  expect(told).toEqual(['request']);
  await store.close();
});

it('follows no append of a command that was carried out before', async () => {
  const told: string[] = [];
  const traceAppend: TraceAppend = (trace) => (told.push(trace), { trace, end: () => undefined });
  const store = new InMemoryEventStore({ traceAppend });
  const follow = (trace: string) =>
    store.decide(tally, { stream: 'tally-a' }, { type: 'Add', amount: 1 }, { actor, commandId: 'one', trace });
  await Promise.all([follow('a'), follow('its repetition')]);
  await follow('its late repetition');
  expect(told).toEqual(['a']);
  await store.close();
});

it('ends what it follows when an append fails', async () => {
  const told: unknown[] = [];
  const log = new InMemoryLog(() => 0);
  const append = log.append.bind(log);
  log.append = async (items, trace) => {
    const result = await append(items, trace);
    if (told.length === 1) throw new OutcomeUnknown('the answer was lost');
    return result;
  };
  const traceAppend: TraceAppend = (trace) => (told.push('begin'), { trace, end: (recorded) => told.push(recorded) });
  const store = new LogBackedStore(log, { traceAppend });
  await store.decide(tally, { stream: 'tally-a' }, { type: 'Add', amount: 1 }, { actor, trace: 'a' });
  expect(told).toEqual(['begin', null]);
  await store.close();
});

it('has answered everybody who was queued when it is closed', async () => {
  const store = new InMemoryEventStore({ batchLimit: 1 });
  const answered: number[] = [];
  for (let index = 0; index < 5; index += 1)
    void add(store, `tally-${index}`).then(({ revision }) => answered.push(revision));
  await store.close();
  expect(answered).toEqual([1, 1, 1, 1, 1]);
});

it('is closed soon where the record takes nothing, and records what it takes meanwhile', async () => {
  jest.useFakeTimers();
  const log = new InMemoryLog(() => 0);
  const append = log.append.bind(log);
  const begun = performance.now();
  let backAfter = 300;
  log.append = (...asked) =>
    performance.now() - begun < backAfter ? Promise.reject(new OutcomeUnknown('away')) : append(...asked);
  const [soon, never] = [new LogBackedStore(log), new LogBackedStore(log)];
  const recorded = add(soon, 'tally-a');
  let isClosed = false;
  const closed = soon.close();
  await jest.advanceTimersByTimeAsync(1_000);
  expect(await recorded).toMatchObject({ revision: 1 });
  await closed;

  backAfter = Infinity;
  const given = Promise.allSettled([add(never, 'tally-b')]);
  void never.close().then(() => (isClosed = true));
  await jest.advanceTimersByTimeAsync(1_600);
  expect(await given).toMatchObject([{ status: 'rejected', reason: { code: 'unavailable' } }]);
  expect(isClosed).toBe(true);
});

it('lets a taken key fail the one that wants it, and not those that came to the same stream with it (C07)', async () => {
  const store = new InMemoryEventStore();
  await say(store, 'tally-holder', { type: 'Hold', key: 'seat:1' });
  const [before, wanted, after] = await Promise.allSettled([
    add(store, 'tally-a'),
    say(store, 'tally-a', { type: 'Hold', key: 'seat:1' }),
    add(store, 'tally-a'),
  ]);
  expect(wanted).toMatchObject({ status: 'rejected', reason: expect.any(ClaimTaken) });
  expect([before.status, after.status]).toEqual(['fulfilled', 'fulfilled']);
  expect(await store.view(tally, { stream: 'tally-a' })).toMatchObject({ state: { total: 2 } });
  await store.close();
});

it('keeps facts that the rules stumble over to the callers of their stream', async () => {
  const store = new InMemoryEventStore();
  await add(store, 'tally-odd');
  const stumbling = {
    ...tally,
    fold: 2,
    evolve: (): never => {
      throw new Error('of another time');
    },
  };
  const [odd, neighbour] = await Promise.allSettled([
    store.decide(stumbling, { stream: 'tally-odd' }, { type: 'Add', amount: 1 }, { actor }),
    add(store, 'tally-a'),
  ]);
  expect(odd).toMatchObject({ status: 'rejected', reason: { message: 'The facts of tally-odd cannot be folded' } });
  expect(neighbour.status).toBe('fulfilled');
  await store.close();
});

it('records once, and answers as a repetition, what was recorded although its answer was lost (U1)', async () => {
  const log = new InMemoryLog(() => 0);
  const append = log.append.bind(log);
  let losses = 1;
  log.append = async (items) => {
    const result = await append(items);
    losses -= 1;
    if (losses >= 0) throw new OutcomeUnknown('the answer was lost');
    return result;
  };
  const store = new LogBackedStore(log);
  expect(await add(store, 'tally-a')).toMatchObject({ revision: 1, repeated: true, state: { total: 1 } });
  expect(await log.readStream('tally-a')).toHaveLength(1);
  await store.close();
});

it('decides on what would come back from the record, also within a round', async () => {
  const seen: string[][] = [];
  const dropping = {
    ...tally,
    decide: (state, command, moment) => (seen.push(Object.keys(state)), tally.decide(state, command, moment)),
    evolve: (state, fact) => ({ ...tally.evolve(state, fact), dropped: undefined }),
  } as typeof tally;
  const store = new InMemoryEventStore();
  const said = () => store.decide(dropping, { stream: 'tally-a' }, { type: 'Add', amount: 1 }, { actor });
  await Promise.all([said(), said()]);
  await said();
  expect(seen.flat()).not.toContain('dropped');
  expect(seen).toHaveLength(3);
  await store.close();
});

import { randomUUID } from 'node:crypto';
import { Refusal, type Decider, type Typed } from '@rollcall/decider';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import {
  ClaimTaken,
  LogBackedStore,
  part,
  STREAM_START,
  Unstorable,
  type Batch,
  type EventStore,
  type RecordedFact,
  type RecordedGap,
  type RecordLog,
  type WantedPast,
} from '../index.js';
import { interruptible } from './interruptible.js';
import { checkOf, tally, type TallyCommand } from './rules.js';

/** A store under test, and what the suite does to it from outside. */
export type StoreUnderTest = {
  /** Two instances over one record: any request may land on any of them. */
  readonly store: EventStore;
  readonly other: EventStore;
  /** The log under `store`. */
  readonly log: RecordLog;
  /** Holds the next append of `store` until somebody else has written to the stream. */
  intrude(stream: string): void;
  /** Drops the cached folds of all streams. */
  dropHeads(): Promise<void> | void;
  close(): Promise<void>;
};

const actor = { kind: 'plane', id: 'test' } as const;
/** A rule that records one event of a type, whatever came before. */
const telling = (type: string): Decider<null, Typed, Typed> => ({
  fold: 1,
  initial: () => null,
  decide: () => [{ type }],
  evolve: () => null,
});
const machineStream = () => `machine-${randomUUID()}`;

export const allBatches = async (store: EventStore): Promise<readonly Batch[]> => {
  const batches: Batch[] = [];
  for (;;) {
    const next = await store.readBatches(batches.at(-1)?.number ?? 0n, 500);
    if (next.length === 0) return batches;
    batches.push(...next);
  }
};

/** Two instances over one record. */
export const twoStores = (mine: RecordLog, others: RecordLog): Omit<StoreUnderTest, 'dropHeads'> => {
  const other = new LogBackedStore(others);
  // The second instance appends past the gate of the first, also where both share one log in memory.
  const append = others.append.bind(others);
  const { log, before } = interruptible(mine);
  const store = new LogBackedStore(log);
  let intrusions = 0;
  return {
    store,
    other,
    log,
    intrude: (stream) =>
      before(async () => {
        intrusions += 1;
        const { answers } = await others.ask([{ stream, key: null, commandId: null }]);
        const revision = answers[0]?.head?.revision ?? 0;
        const checkIns = [{ revision: revision + 1, checkIn: checkOf(stream, intrusions) }];
        const state = JSON.stringify(answers[0]?.head?.state ?? {});
        await append([
          {
            stream,
            expected: revision,
            fresh: false,
            revision: revision + 1,
            fold: tally.fold,
            state,
            events: [],
            checkIns,
            claims: [],
          },
        ]);
      }),
    close: async () => {
      await store.close();
      await other.close();
    },
  };
};

const places = (facts: readonly RecordedFact[]) => facts.map(({ kind, revision }) => `${revision} ${kind}`);

/** The promises of the record. Each implementation of the port runs this suite. */
export const describeEventStoreContract = (name: string, make: () => Promise<StoreUnderTest>): void => {
  describe(`${name} keeps the promises of the record`, () => {
    let subject: StoreUnderTest;
    let store: EventStore;

    beforeEach(async () => {
      subject = await make();
      ({ store } = subject);
    });
    afterEach(() => subject.close());

    const add = (stream: string, amount: number, commandId?: string, on = store) =>
      on.decide(tally, { stream }, { type: 'Add', amount }, { actor, ...(commandId ? { commandId } : {}) });
    const hear = (stream: string, sequence: number, checkId?: string, on = store) =>
      on.decide(
        tally,
        { stream },
        { type: 'Hear', check: checkOf(stream, sequence, checkId) },
        { actor, commandId: null },
      );

    it('answers with the state, the revision and the batch that recorded it (U1)', async () => {
      const decision = await add('tally-a', 5);
      expect(decision).toMatchObject({ stream: 'tally-a', state: { total: 5 }, revision: 1, repeated: false });
      expect(decision.batch).toBe((await store.newest()).number);
      expect(decision.recordedAt).toBe((await store.newest()).recordedAt);
    });

    describe('decisions that stand or fall together', () => {
      const together = (commandId: string, first: TallyCommand, second: TallyCommand) =>
        store.decideTogether([part(tally, 'tally-one', first), part(tally, 'tally-two', second)], { actor, commandId });
      const totals = async () => [
        (await store.view(tally, { stream: 'tally-one' }))?.state.total ?? null,
        (await store.view(tally, { stream: 'tally-two' }))?.state.total ?? null,
      ];
      const ADD = { type: 'Add', amount: 1 } as const;

      it('are recorded in one batch, and a repetition of them records nothing more (N19)', async () => {
        const id = randomUUID();
        const [one, two] = await together(id, ADD, { type: 'Add', amount: 5 });
        expect(one).toMatchObject({ stream: 'tally-one', state: { total: 1 }, repeated: false });
        expect(two).toMatchObject({ stream: 'tally-two', state: { total: 5 }, batch: one.batch });
        const again = await together(id, ADD, { type: 'Add', amount: 5 });
        expect(again).toMatchObject([{ repeated: true }, { repeated: true }]);
        // One of them was recorded, so nothing of the repetition is, also on a stream that has never seen it.
        const elsewhere = await store.decideTogether([part(tally, 'tally-one', ADD), part(tally, 'tally-x', ADD)], {
          actor,
          commandId: id,
        });
        expect(elsewhere.map(({ repeated }) => repeated)).toEqual([true, true]);
        expect(await totals()).toEqual([1, 5]);
        expect((await allBatches(store)).filter(({ facts }) => facts.length > 0)).toHaveLength(1);
      });

      it('are refused as a whole where one of them is (N19)', async () => {
        const refused = together(randomUUID(), ADD, { type: 'AddIfTotal', total: 7, amount: 1 });
        await expect(refused).rejects.toEqual(new Refusal('stale-check', { total: 0 }));
        expect(await totals()).toEqual([null, null]);
      });

      it('lose as a whole where another stream holds a key that one of them wants (N19)', async () => {
        await store.decide(tally, { stream: 'tally-three' }, { type: 'Hold', key: 'thing:1' }, { actor });
        const losing = together(randomUUID(), ADD, { type: 'Hold', key: 'thing:1' });
        await expect(losing).rejects.toEqual(new ClaimTaken('thing:1'));
        expect(await totals()).toEqual([null, null]);
        expect(await store.holder('thing:1')).toEqual({ stream: 'tally-three', released: false });
      });

      it('are decided again together after a conflict of one of them (N19)', async () => {
        const [one, two] = [machineStream(), machineStream()];
        for (const stream of [one, two]) await add(stream, 1);
        subject.intrude(two);
        const decided = await store.decideTogether([part(tally, one, ADD), part(tally, two, ADD)], {
          actor,
          commandId: randomUUID(),
        });
        expect(decided.map(({ revision, state }) => [revision, state.total])).toEqual([
          [2, 2],
          [3, 2],
        ]);
        expect(decided[0].batch).toBe(decided[1].batch);
      });

      it('go on beside others, and one that is done already holds back none (N19)', async () => {
        const others = Array.from({ length: 20 }, () => add('tally-one', 1));
        const [, second] = await together(randomUUID(), ADD, { type: 'Nothing' });
        await Promise.all(others);
        expect(second).toMatchObject({ repeated: true, batch: null });
        expect(await totals()).toEqual([21, null]);
      });
    });

    it('numbers revisions over ledger events and check-ins together, without a hole (U1)', async () => {
      const stream = machineStream();
      await add(stream, 1);
      await hear(stream, 1);
      await add(stream, 2);
      await hear(stream, 2);
      expect(places(await store.readStream(stream))).toEqual(['1 event', '2 check-in', '3 event', '4 check-in']);
    });

    it('gives back a stream as it stood at a time, with the newest of its check-ins (B5)', async () => {
      const stream = machineStream();
      const before = await store.newest();
      const first = await add(stream, 1);
      await hear(stream, 1);
      const heard = await hear(stream, 2);
      const last = await add(stream, 2);
      const past = async (until: number) => {
        const { events, newestCheckIn, heard: newest } = await store.readPast(stream, until);
        return { events: events.length, sequence: newestCheckIn?.checkIn.sequence ?? null, newest: newest.number };
      };
      expect(await past(last.recordedAt)).toEqual({ events: 2, sequence: 2, newest: last.batch });
      // Batches may share a millisecond, and then they are one moment.
      if (heard.recordedAt < last.recordedAt)
        expect(await past(last.recordedAt - 1)).toEqual({ events: 1, sequence: 2, newest: heard.batch });
      expect(await past(first.recordedAt - 1)).toMatchObject({ events: 0, sequence: null });
      expect((await past(first.recordedAt - 1)).newest).toBeLessThanOrEqual(before.number);
      expect(await past(0)).toEqual({ events: 0, sequence: null, newest: 0n });
      expect((await store.readPast(machineStream(), last.recordedAt)).events).toEqual([]);
    });

    it('reads of a past the newest events of a type, and the newest check-in all the same', async () => {
      const stream = machineStream();
      const first = await add(stream, 1);
      for (const amount of [2, 3, 4]) await add(stream, amount);
      const heard = await hear(stream, 1);
      const past = async (until: number, wanted: WantedPast) => {
        const { events, newestCheckIn } = await store.readPast(stream, until, wanted);
        return [events.map(({ revision }) => revision), newestCheckIn?.revision ?? null];
      };
      expect(await past(heard.recordedAt, { newest: 2 })).toEqual([[3, 4], 5]);
      expect(await past(heard.recordedAt, { type: 'Added', newest: 10 })).toEqual([[1, 2, 3, 4], 5]);
      expect(await past(heard.recordedAt, { type: 'Held', newest: 2 })).toEqual([[], 5]);
      expect(await past(first.recordedAt - 1, { newest: 2 })).toEqual([[], null]);
    });

    it('gives back by which events a person has let machines in since a time, in order, and nobody else’s', async () => {
      const [ada, eve] = [randomUUID(), randomUUID()];
      const by = (id: string, type: string) =>
        store.decide(
          telling(type),
          { stream: `token-${randomUUID()}` },
          { type: 'Tell' },
          { actor: { kind: 'person', id } },
        );
      const first = await by(ada, 'TokenIssued');
      await by(eve, 'TokenIssued');
      await by(ada, 'NoteTold');
      const last = await by(ada, 'CodeApproved');
      const found = async (after: number) => (await store.admissionsBy(ada, after)).map(({ stream }) => stream);
      expect(await found(first.recordedAt - 1)).toEqual([first.stream, last.stream]);
      expect(await found(0)).toEqual([first.stream, last.stream]);
      expect(await found(last.recordedAt)).toEqual([]);
    });

    it('gives what follows a place in a stream, page by page, whole and in order (U4)', async () => {
      const stream = machineStream();
      await add(stream, 1);
      for (let sequence = 2; sequence <= 8; sequence += 1) await hear(stream, sequence);
      await add(stream, 2);
      const whole = await store.readStream(stream);
      const pages: (readonly RecordedFact[])[] = [];
      for (let place = STREAM_START; pages.at(-1)?.length !== 0;) {
        const page = await store.readStreamAfter(stream, place, 4);
        pages.push(page);
        place = page.at(-1) ?? place;
      }
      expect(pages.map((page) => page.length)).toEqual([4, 4, 1, 0]);
      expect(pages.flat()).toEqual(whole);
      expect(await store.readStreamAfter(machineStream(), STREAM_START, 4)).toEqual([]);
    });

    it('gives back what was recorded, field by field (U1)', async () => {
      const stream = machineStream();
      const check = {
        ...checkOf(stream, 7),
        said: 'stopping',
        reason: 'update',
        boot: { counter: 3, id: '00000001' },
      } as const;
      await store.decide(
        tally,
        { stream },
        { type: 'Add', amount: -3, text: 'Grüße, 世界 👋' },
        { actor, trace: '00-a-b-01' },
      );
      await store.decide(tally, { stream }, { type: 'Hear', check }, { actor, commandId: null });
      const [event, heard] = await store.readStream(stream);
      expect(event).toMatchObject({
        kind: 'event',
        actor,
        event: { type: 'Added', amount: -3, text: 'Grüße, 世界 👋' },
      });
      expect(event?.kind === 'event' && event.body).toBe('{"amount":-3,"text":"Grüße, 世界 👋"}');
      expect(heard).toMatchObject({ kind: 'check-in', checkIn: check });
    });

    it('keeps the trace of the first command that is followed with the batch, and none with others', async () => {
      const follow = (stream: string, trace: string) =>
        store.decide(tally, { stream }, { type: 'Add', amount: 1 }, { actor, trace });
      await Promise.all([add('tally-a', 1), follow('tally-b', '00-b-1-01'), follow('tally-c', '00-c-1-01')]);
      await add('tally-a', 1);
      await store.mark(0);
      expect((await allBatches(subject.other)).map(({ trace }) => trace)).toEqual(['00-b-1-01', null, null]);
    });

    it('records decisions that arrive together in few batches, in one order for every reader', async () => {
      const before = (await store.newest()).number;
      await Promise.all(Array.from({ length: 200 }, (_, index) => add(`tally-${index % 50}`, 1)));
      const batches = (await allBatches(store)).filter((batch) => batch.number > before);
      expect(batches.flatMap((batch) => batch.facts)).toHaveLength(200);
      expect(batches.length).toBeLessThan(20);
      expect(batches.map((batch) => batch.number)).toEqual(batches.map((_, index) => before + 1n + BigInt(index)));
      expect(batches.map((batch) => batch.recordedAt)).toEqual(
        batches.map((batch) => batch.recordedAt).toSorted((a, b) => a - b),
      );
      expect(await allBatches(subject.other)).toEqual(await allBatches(store));
    });

    it('numbers ledger events densely from 0', async () => {
      await Promise.all(
        Array.from({ length: 30 }, (_, index) =>
          add(`tally-${index}`, 1, undefined, index % 2 ? subject.other : store),
        ),
      );
      const positions = (await allBatches(store))
        .flatMap((batch) => batch.facts)
        .flatMap((fact) => (fact.kind === 'event' ? [fact.position] : []));
      expect(positions).toEqual(positions.map((_, index) => BigInt(index)));
    });

    it('decides commands of one stream one on the result of the other', async () => {
      const decisions = await Promise.all(Array.from({ length: 20 }, () => add('tally-a', 1)));
      expect(decisions.map((decision) => decision.state.total).sort((a, b) => a - b)).toEqual(
        Array.from({ length: 20 }, (_, i) => i + 1),
      );
    });

    it('lets two decisions on one head never both win, on two instances (U9)', async () => {
      await add('tally-a', 0);
      const attempts = await Promise.allSettled(
        Array.from({ length: 40 }, (_, index) =>
          (index % 2 ? subject.other : store).decide(
            tally,
            { stream: 'tally-a' },
            { type: 'AddIfTotal', total: 0, amount: 1 },
            { actor },
          ),
        ),
      );
      expect(attempts.filter((attempt) => attempt.status === 'fulfilled')).toHaveLength(1);
      expect((await store.view(tally, { stream: 'tally-a' }))?.state.total).toBe(1);
    });

    it('answers a repeated command from the state and appends nothing (U1)', async () => {
      const commandId = randomUUID();
      await add('tally-a', 5, commandId);
      const before = await store.newest();
      const again = await add('tally-a', 5, commandId, subject.other);
      expect(again).toMatchObject({ repeated: true, state: { total: 5 }, revision: 1, batch: null });
      expect(await store.newest()).toEqual(before);
    });

    it('records a command once that is sent many times at the same instant to two instances', async () => {
      const commandId = randomUUID();
      await Promise.all(
        Array.from({ length: 20 }, (_, index) => add('tally-a', 5, commandId, index % 2 ? subject.other : store)),
      );
      expect((await store.view(tally, { stream: 'tally-a' }))?.state.total).toBe(5);
      expect(await store.readStream('tally-a')).toHaveLength(1);
    });

    it('keeps a refusal to its own caller', async () => {
      const [closed, refused, fine] = await Promise.allSettled([
        store.decide(tally, { stream: 'tally-a' }, { type: 'Close' }, { actor }),
        add('tally-a', 1),
        add('tally-b', 1),
      ]);
      expect(closed.status).toBe('fulfilled');
      expect(refused).toMatchObject({ status: 'rejected', reason: new Refusal('credential-revoked') });
      expect(fine.status).toBe('fulfilled');
    });

    it.each([
      ['a NUL', { type: 'Add', amount: 1, text: 'lab\u0000-1' }],
      ['half a character', { type: 'Add', amount: 1, text: '\ud800' }],
      ['a float', { type: 'Add', amount: 0.5 }],
      ['40 KiB', { type: 'Add', amount: 1, text: 'x'.repeat(40_000) }],
    ] as const)('fails an item with %s alone, and its neighbours are recorded (C11)', async (_, bad) => {
      const [rejected, ...others] = await Promise.allSettled([
        store.decide(tally, { stream: 'tally-bad' }, bad, { actor }),
        ...Array.from({ length: 10 }, (_, index) => add(`tally-${index}`, 1)),
      ]);
      expect(rejected).toMatchObject({ status: 'rejected', reason: expect.any(Unstorable) });
      expect(others.map((other) => other.status)).toEqual(others.map(() => 'fulfilled'));
      expect(await store.readStream('tally-bad')).toEqual([]);
    });

    it('lets one stream hold a key, and tells the other which key it lost (C07)', async () => {
      const hold = (stream: string, on = store) =>
        on.decide(tally, { stream }, { type: 'Hold', key: 'badge:1' }, { actor });
      const attempts = await Promise.allSettled(
        Array.from({ length: 20 }, (_, index) => hold(`tally-${index}`, index % 2 ? subject.other : store)),
      );
      const lost = attempts.flatMap((attempt) => (attempt.status === 'rejected' ? [attempt.reason as unknown] : []));
      expect(lost).toHaveLength(19);
      expect(lost.every((reason) => reason instanceof ClaimTaken && reason.key === 'badge:1')).toBe(true);
      const winner = (await store.holder('badge:1'))?.stream as string;
      expect(places(await store.readStream(winner))).toEqual(['1 event']);
      const facts = (await allBatches(store)).flatMap((batch) => batch.facts);
      expect(facts).toHaveLength(1);
      // The losers left nothing behind, so each may begin anew.
      const loser = winner === 'tally-1' ? 'tally-2' : 'tally-1';
      expect(await store.view(tally, { stream: loser })).toBeNull();
      expect((await add(loser, 1)).revision).toBe(1);
    });

    it('leaves a key with its holder when the loser came together with somebody who was recorded (C07)', async () => {
      const hold = (stream: string, key: string) => store.decide(tally, { stream }, { type: 'Hold', key }, { actor });
      await hold('tally-holder', 'redemption:1');
      const together = [hold('tally-loser', 'redemption:1'), add('tally-neighbour', 1)];
      expect((await Promise.allSettled(together)).map(({ status }) => status)).toEqual(['rejected', 'fulfilled']);
      expect(await store.holder('redemption:1')).toEqual({ stream: 'tally-holder', released: false });
      expect(await store.view(tally, { stream: 'tally-loser' })).toBeNull();
    });

    it('frees a key that its holder releases, and keeps who held it', async () => {
      await store.decide(tally, { stream: 'tally-a' }, { type: 'Hold', key: 'badge:1' }, { actor });
      await store.decide(tally, { stream: 'tally-a' }, { type: 'Free', key: 'badge:1' }, { actor });
      expect(await store.holder('badge:1')).toEqual({ stream: 'tally-a', released: true });
      expect(await store.view(tally, { claim: 'badge:1' })).toBeNull();
      await store.decide(tally, { stream: 'tally-b' }, { type: 'Hold', key: 'badge:1' }, { actor });
      expect((await store.view(tally, { claim: 'badge:1' }))?.stream).toBe('tally-b');
    });

    it('lets nobody but its holder release a key', async () => {
      await store.decide(tally, { stream: 'tally-a' }, { type: 'Hold', key: 'badge:1' }, { actor });
      const freed = store.decide(tally, { stream: 'tally-b' }, { type: 'Free', key: 'badge:1' }, { actor });
      await expect(freed).rejects.toBeInstanceOf(ClaimTaken);
      expect(await store.holder('badge:1')).toEqual({ stream: 'tally-a', released: false });
    });

    it('finds a stream by a key it holds, as fresh as the record, on every instance (O31, U9)', async () => {
      await store.decide(tally, { stream: 'tally-a' }, { type: 'Hold', key: 'badge:1' }, { actor });
      const byKey = { claim: 'badge:1' };
      expect(await subject.other.decide(tally, byKey, { type: 'Add', amount: 2 }, { actor })).toMatchObject({
        stream: 'tally-a',
        state: { total: 2 },
      });
      await store.decide(tally, byKey, { type: 'Close' }, { actor });
      await expect(subject.other.decide(tally, byKey, { type: 'Add', amount: 2 }, { actor })).rejects.toThrow(
        'credential-revoked',
      );
    });

    it('decides on the initial state for a key that nobody holds, and records nothing', async () => {
      await expect(
        store.decide(
          {
            ...tally,
            decide: () => {
              throw new Refusal('credential-unknown');
            },
          },
          { claim: 'badge:9' },
          { type: 'Close' },
          { actor },
        ),
      ).rejects.toThrow('credential-unknown');
      expect((await store.newest()).number).toBe(0n);
    });

    it('marks the record when nobody was heard for a while, whatever else is recorded, and not otherwise (B1)', async () => {
      await add('tally-a', 1);
      const heardUntil = async () => (await store.readPast('tally-a', (await store.newest()).recordedAt)).heardUntil;
      expect(await heardUntil()).toBeNull();
      expect(await store.mark(60_000)).toBe(true);
      const marked = (await store.newest()).recordedAt;
      await add('tally-a', 1);
      expect(await store.mark(60_000)).toBe(false);
      expect(await store.mark(0)).toBe(true);
      const batches = await allBatches(store);
      expect(batches.map((batch) => batch.facts.length)).toEqual([1, 0, 1, 0]);
      expect((await store.readPast('tally-a', marked)).heardUntil).toBe(marked);
      await hear(machineStream(), 1);
      expect(await store.mark(60_000)).toBe(false);
      expect(await heardUntil()).toBe((await store.newest()).recordedAt);
    });

    it('gives the gaps between checks and marks of any past, whatever was recorded in them, page by page (B1)', async () => {
      const heard: Batch[] = [];
      for (let sequence = 1; sequence <= 3; sequence += 1) {
        await store.mark(0);
        heard.push(...(await allBatches(store)).slice(-1));
        // Until the record's time has gone on, so that there is a gap of some milliseconds.
        const { recordedAt } = await store.newest();
        while ((await add('tally-a', 1)).recordedAt < recordedAt + 2);
      }
      const all = { gapSeconds: 0.001, since: 0, before: null, endedAfter: 0 };
      const gaps = await store.readGaps(all, 10);
      expect(gaps).toEqual(
        heard
          .slice(1)
          .map(({ number, recordedAt }, n) => ({ batch: number, from: heard[n]!.recordedAt, until: recordedAt })),
      );
      const [first, second] = gaps as [RecordedGap, RecordedGap];
      expect(await store.readGaps(all, 1)).toEqual([first]);
      expect(await store.readGaps({ ...all, since: second.from }, 10)).toEqual([second]);
      expect(await store.readGaps({ ...all, before: second.from }, 10)).toEqual([first]);
      expect(await store.readGaps({ ...all, endedAfter: first.until }, 10)).toEqual([second]);
      expect(await store.readGaps({ ...all, gapSeconds: 15 }, 10)).toEqual([]);
    });

    it('loses nothing but time when all heads are dropped', async () => {
      const stream = machineStream();
      await add(stream, 3);
      await hear(stream, 1);
      const before = await store.view(tally, { stream });
      await subject.dropHeads();
      expect(await store.view(tally, { stream })).toEqual(before);
      await add(stream, 1);
      await subject.dropHeads();
      const results = await Promise.all([hear(stream, 2), hear(stream, 3, undefined, subject.other), add(stream, 1)]);
      expect(Math.max(...results.map((result) => result.revision))).toBe(6);
      expect(await store.view(tally, { stream })).toMatchObject({ state: { total: 5, checks: 3 }, revision: 6 });
      expect(places(await store.readStream(stream)).map((place) => Number(place.split(' ')[0]))).toEqual([
        1, 2, 3, 4, 5, 6,
      ]);
    });

    it('keeps the time of the last check when a head is folded anew for something else', async () => {
      const stream = machineStream();
      await add(stream, 1);
      const { recordedAt } = await hear(stream, 1);
      await subject.dropHeads();
      await add(stream, 1);
      expect((await store.view(tally, { stream }))?.lastCheckAt).toBe(recordedAt);
    });

    it('folds a head anew that was folded by other rules', async () => {
      await add('tally-a', 3);
      const doubled: typeof tally = {
        ...tally,
        fold: 2,
        evolve: (state, fact) =>
          fact.type === 'Added' ? { ...state, total: state.total + 2 * fact.amount } : tally.evolve(state, fact),
      };
      expect(
        (await store.decide(doubled, { stream: 'tally-a' }, { type: 'Add', amount: 1 }, { actor })).state.total,
      ).toBe(8);
    });

    it('makes an append lose whose head was moved by a quiet check meanwhile', async () => {
      const stream = machineStream();
      await add(stream, 1);
      const { answers } = await subject.log.ask([{ stream, key: null, commandId: null }]);
      await hear(stream, 1, undefined, subject.other);
      const item = {
        stream,
        expected: answers[0]?.head?.revision ?? 0,
        fresh: false,
        revision: 2,
        fold: tally.fold,
        state: '{}',
      };
      const closed = {
        revision: 2,
        commandId: randomUUID(),
        ordinal: 0,
        eventId: randomUUID(),
        type: 'Closed',
        actor,
        body: '{}',
        trace: null,
      };
      const neighbour = { ...item, stream: 'tally-b', expected: 0, fresh: true, revision: 1, checkIns: [], claims: [] };
      const head = () => subject.log.look({ stream, key: null, commandId: null });
      const before = await head();
      const result = await subject.log.append([
        { ...item, events: [closed], checkIns: [], claims: [] },
        { ...neighbour, events: [{ ...closed, revision: 1, commandId: randomUUID(), eventId: randomUUID() }] },
      ]);
      expect(result.outcomes).toEqual(['conflict', 'ok']);
      expect(await head()).toEqual(before);
      expect(places(await store.readStream(stream))).toEqual(['1 event', '2 check-in']);
    });

    it('decides again on what came between, and gives up after three conflicts (O31)', async () => {
      const stream = machineStream();
      await add(stream, 1);
      // Each time the rules are asked, somebody else writes first.
      const interrupted = (times: number): { rules: typeof tally; seen: number[] } => {
        const seen: number[] = [];
        return {
          seen,
          rules: {
            ...tally,
            decide: (state, command, moment) => {
              seen.push(state.total);
              if (seen.length <= times) subject.intrude(stream);
              return tally.decide(state, command, moment);
            },
          },
        };
      };
      const twice = interrupted(2);
      await store.decide(twice.rules, { stream }, { type: 'Add', amount: 1 }, { actor });
      expect(twice.seen).toHaveLength(3);
      const always = interrupted(99);
      await expect(store.decide(always.rules, { stream }, { type: 'Add', amount: 1 }, { actor })).rejects.toMatchObject(
        { code: 'unavailable' },
      );
      expect(always.seen).toHaveLength(4);
    });

    it('refuses new decisions once it is closed, and decides what was queued', async () => {
      const queued = Array.from({ length: 50 }, (_, index) => add(`tally-${index}`, 1));
      const closing = store.close();
      await expect(add('tally-late', 1)).rejects.toMatchObject({ code: 'unavailable' });
      expect((await Promise.all(queued)).every((decision) => !decision.repeated)).toBe(true);
      await closing;
    });

    it('tells listeners of an append by any instance', async () => {
      const heard = new Promise<string>((resolve) => {
        const stop = store.onAppended(() => {
          stop();
          resolve('told');
        });
      });
      // A listener that has just begun may miss one: it is a hint. Two appends with a pause between reach it.
      const repeat = setInterval(() => void add('tally-a', 1, undefined, subject.other).catch(() => undefined), 50);
      expect(await heard).toBe('told');
      clearInterval(repeat);
    });
  });
};

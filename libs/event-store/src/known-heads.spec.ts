import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { checkOf, InMemoryLog, tally, type TallyCommand } from './testing/index.js';
import { KnownHeads } from './known-heads.js';
import { LogBackedStore, type RecordLog } from './index.js';

const actor = { kind: 'plane', id: 'test' } as const;
const STREAM = 'machine-7';

/** A record that can be replaced by another one behind the same connection settings, as by a restore; counts the questions it is asked. */
const replaceable = (first: InMemoryLog) => {
  let current = first;
  const asked: number[] = [];
  const beforeAsk: (() => void)[] = [];
  const beforeAppend: (() => void)[] = [];
  const log = new Proxy<RecordLog>(first, {
    get: (_, name: keyof RecordLog) => {
      if (name === 'continuity') return current.continuity;
      if (name === 'ask')
        return (...[questions]: Parameters<RecordLog['ask']>) => {
          for (const work of beforeAsk.splice(0)) work();
          asked.push(questions.length);
          return current.ask(questions);
        };
      if (name === 'append')
        return (...given: Parameters<RecordLog['append']>) => {
          for (const work of beforeAppend.splice(0)) work();
          return current.append(...given);
        };
      return current[name].bind(current);
    },
  });
  return {
    log,
    asked,
    beforeAsk: (work: () => void) => void beforeAsk.push(work),
    beforeAppend: (work: () => void) => void beforeAppend.push(work),
    replace: (by: InMemoryLog) => {
      by.continuity = current.continuity + 1;
      current = by;
    },
  };
};

describe('a command that may rest on a known head', () => {
  let now = 0;
  let record: InMemoryLog;
  let behind: ReturnType<typeof replaceable>;
  let store: LogBackedStore;
  let rival: LogBackedStore;
  let troubles: unknown[];
  beforeEach(() => {
    record = new InMemoryLog(() => (now += 1));
    behind = replaceable(record);
    troubles = [];
    store = new LogBackedStore(behind.log, { onTrouble: (error) => troubles.push(error) });
    rival = new LogBackedStore(record);
  });
  afterEach(async () => {
    await store.close();
    await rival.close();
  });

  const say = (command: TallyCommand, on = store) =>
    on.decide(tally, { stream: STREAM }, command, {
      actor,
      onKnownHead: on === store,
      commandId: command.type === 'Hear' ? null : randomUUID(),
    });
  const hear = (checkId: string = randomUUID()) => say({ type: 'Hear', check: checkOf(STREAM, 1, checkId) });
  /** Until the record is not asked any more. */
  const become = async () => {
    for (let count = 0; count < 4; count += 1) await hear();
    behind.asked.length = 0;
  };

  it('asks the record until it has shown once what was known here, and then no more', async () => {
    for (let count = 0; count < 10; count += 1)
      expect(await hear()).toMatchObject({ revision: count + 1, repeated: false });
    expect(behind.asked).toHaveLength(3);
  });

  it('is decided on what its neighbours in the same round have decided', async () => {
    await become();
    const decisions = await Promise.all([hear(), hear(), hear()]);
    expect(decisions.map(({ revision, state }) => [revision, state.checks])).toEqual([
      [5, 5],
      [6, 6],
      [7, 7],
    ]);
    expect(behind.asked).toEqual([]);
  });

  it('is decided again on the record where another instance was quicker, and that is no conflict of its own', async () => {
    await become();
    for (let count = 0; count < 5; count += 1) {
      await say({ type: 'Add', amount: 1 }, rival);
      const { state } = await hear();
      expect([state.total, state.checks]).toEqual([count + 1, 5 + count]);
    }
  });

  it('asks a record that disappoints for longer and longer, so that checks that wander cost one question and no second append', async () => {
    await become();
    let appends = 0;
    for (let count = 0; count < 40; count += 1) {
      if (count % 2 === 0) await say({ type: 'Add', amount: 1 }, rival);
      behind.beforeAppend(() => (appends += 1));
      await hear();
    }
    // One more for the first time that it was old; afterwards it is never twice in a row what it was.
    expect(behind.asked.length).toBeGreaterThanOrEqual(40);
    expect(appends).toBe(40);
  });

  it('believes no refusal that only a known head gives', async () => {
    await become();
    await say({ type: 'Close' });
    await expect(hear()).rejects.toMatchObject({ code: 'credential-revoked' });
    behind.asked.length = 0;
    // It stays closed, and each refusal is the record's own.
    for (let count = 0; count < 3; count += 1)
      await expect(hear()).rejects.toMatchObject({ code: 'credential-revoked' });
    expect(behind.asked).toHaveLength(3);
  });

  it('answers a repetition from the record', async () => {
    await become();
    await hear('the same');
    await rival.decide(tally, { stream: STREAM }, { type: 'Add', amount: 7 }, { actor });
    expect(await hear('the same')).toMatchObject({ repeated: true, batch: null, state: { total: 7 } });
    expect(behind.asked).toHaveLength(1);
  });

  it('sees the time of the last check, as the record would show it', async () => {
    const seen: unknown[] = [];
    const curious: typeof tally = {
      ...tally,
      decide: (state, command, moment) => (seen.push(moment.lastCheckAt), tally.decide(state, command, moment)),
    };
    const times: unknown[] = [null];
    for (let sequence = 1; sequence < 7; sequence += 1) {
      const check = checkOf(STREAM, sequence);
      const options = { actor, commandId: null, onKnownHead: true };
      times.push((await store.decide(curious, { stream: STREAM }, { type: 'Hear', check }, options)).recordedAt);
    }
    expect(seen).toEqual(times.slice(0, -1));
    expect(new Set(seen).size).toBe(6);
  });

  it('shares a round with a command that asks, and both are recorded', async () => {
    await become();
    const [heard, added] = await Promise.all([
      hear(),
      store.decide(tally, { stream: STREAM }, { type: 'Add', amount: 1 }, { actor }),
    ]);
    expect([heard.revision, added.revision].sort((a, b) => a - b)).toEqual([5, 6]);
    behind.asked.length = 0;
    // What was written here by any command is known afterwards.
    expect(await hear()).toMatchObject({ revision: 7, state: { total: 1, checks: 6 } });
    expect(behind.asked).toEqual([]);
  });

  it('knows nothing any more behind a new connection, where the same revision may be another past', async () => {
    await become();
    behind.replace(await otherPast());
    for (let count = 1; count < 6; count += 1)
      expect(await hear()).toMatchObject({ revision: 4 + count, state: { total: 4, checks: count } });
    expect(troubles).toEqual([]);
  });

  it('is not appended where the connection became a new one after it was decided', async () => {
    await become();
    const other = await otherPast();
    behind.beforeAppend(() => behind.replace(other));
    expect(await hear()).toMatchObject({ revision: 5, state: { total: 4, checks: 1 } });
  });

  it('is decided again where a neighbour’s question found a new connection', async () => {
    await become();
    const other = await otherPast();
    behind.beforeAsk(() => behind.replace(other));
    const [heard] = await Promise.all([
      hear(),
      store.decide(tally, { stream: 'machine-8' }, { type: 'Add', amount: 1 }, { actor }),
    ]);
    expect(heard).toMatchObject({ revision: 5, state: { total: 4, checks: 1 } });
  });

  it('nor is what the record was asked for on the connection before', async () => {
    for (let count = 0; count < 4; count += 1) await say({ type: 'Add', amount: 10 }, rival);
    const other = await otherPast();
    behind.beforeAppend(() => behind.replace(other));
    expect(await hear()).toMatchObject({ revision: 5, state: { total: 4, checks: 1 } });
  });

  /** A record with the same stream at the same revision, but other facts. */
  const otherPast = async (): Promise<InMemoryLog> => {
    const log = new InMemoryLog(() => 0);
    const writer = new LogBackedStore(log);
    for (let count = 0; count < 4; count += 1) await say({ type: 'Add', amount: 1 }, writer);
    await writer.close();
    return log;
  };

  it('knows nothing any more after an append of which nobody knows what became', async () => {
    await become();
    behind.beforeAppend(() => {
      throw new Error('the connection broke');
    });
    await hear();
    expect(behind.asked).toHaveLength(1);
  });

  it('is decided by the rules of its own fold only', async () => {
    await become();
    const newer = {
      ...tally,
      fold: 2,
      evolve: (state, fact) => ({ ...tally.evolve(state, fact), total: 100 }),
    } as typeof tally;
    const heard = await store.decide(
      newer,
      { stream: STREAM },
      { type: 'Hear', check: checkOf(STREAM, 9) },
      { actor, commandId: null, onKnownHead: true },
    );
    expect(heard.state.total).toBe(100);
    expect(behind.asked).toHaveLength(1);
  });
});

describe('known heads', () => {
  const head = (revision: number) => ({ revision, fold: 1, lastCheckAt: null, state: `{"n":${revision}}` });
  const relied = (stream: string, heads: KnownHeads) => {
    const { revision } = heads.reliable(stream, 1) ?? { revision: 0 };
    heads.compare(stream, revision);
    return revision;
  };

  it('give way to newer ones, the longest unused first', () => {
    const heads = new KnownHeads(2);
    for (const stream of ['a', 'b']) {
      heads.wrote(stream, head(1));
      heads.compare(stream, 1);
    }
    heads.wrote('a', head(2));
    heads.wrote('c', head(1));
    expect(['a', 'b', 'c'].map((stream) => heads.has(stream))).toEqual([true, false, true]);
    expect(relied('a', heads)).toBe(2);
  });

  it('are not relied on when the record showed another head since', () => {
    const heads = new KnownHeads(10);
    heads.wrote('a', head(1));
    heads.compare('a', 1);
    heads.compare('a', 2);
    expect(heads.reliable('a', 1)).toBeNull();
  });

  it('are relied on again when the record has shown them four times as often after each disappointment, 64 times at most', () => {
    const heads = new KnownHeads(10);
    const untilRelied = () => {
      for (let times = 1; ; times += 1) {
        heads.compare('a', 1);
        if (heads.reliable('a', 1)) return times;
      }
    };
    heads.wrote('a', head(1));
    const needed = [untilRelied()];
    for (let count = 0; count < 4; count += 1) {
      heads.disappoint('a');
      needed.push(untilRelied());
    }
    expect(needed).toEqual([1, 4, 16, 64, 64]);
  });

  it('each hand out a state of their own', () => {
    const heads = new KnownHeads(10);
    heads.wrote('a', head(1));
    heads.compare('a', 1);
    const [one, other] = [heads.reliable('a', 1), heads.reliable('a', 1)];
    expect(one?.state).toEqual(other?.state);
    expect(one?.state).not.toBe(other?.state);
  });
});

import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Refusal } from '@rollcall/decider';
import { ClaimTaken, type EventStore } from '@rollcall/event-store';
import { PostgresEventStore } from '@rollcall/event-store-postgres';
import { InMemoryEventStore } from '@rollcall/event-store/testing';
import { identifierKey, machine, machineStream, type MachineCommand } from '@rollcall/machine';
import { admit, check } from '@rollcall/machine/testing';
import { randomUUID } from 'node:crypto';
import { amount } from '../../../../test/support/amount.js';
import { freshDatabase, type FreshDatabase } from '../../../../test/support/postgres.js';

const TIMES_ON_POSTGRES = amount({ usual: 40, whole: 100 });
const KINDS = ['check', 'rotation', 'upload'] as const;
type Kind = (typeof KINDS)[number];

const actor = { kind: 'person', id: 'person-1' } as const;
const hash = () => randomUUID().replaceAll('-', '').padEnd(64, '0');

/** Numbers that look random and follow from the seed. */
const dice = (seed: number) => {
  let state = seed * 2_654_435_761 + 1;
  return (sides: number): number => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * sides);
  };
};

/** A deletion and a call of one kind, both of which begin before either has ended, on two instances. Returns what became of them. */
const race = async (kind: Kind, seed: number, [one, other]: readonly [EventStore, EventStore]) => {
  const roll = dice(seed);
  const machineId = randomUUID();
  const stream = machineStream(machineId);
  const keyHash = hash();
  const on = (store: EventStore, command: MachineCommand) =>
    store.decide(machine, { stream }, command, command.type === 'AcceptCheck' ? { actor, commandId: null } : { actor });
  const token = { ...admit().token, id: randomUUID(), expiresAt: Date.now() + 3_600_000 };
  await on(one, admit({ machineId, nodeId: machineId, keyHash, identifierHash: machineId, token }));
  await on(one, check({ keyHash, checkId: randomUUID() }));
  const { state } = await on(one, { type: 'RequestLogTail' });
  const calls: Record<Kind, MachineCommand> = {
    check: check({ keyHash, sequence: 2, checkId: randomUUID() }),
    rotation: { type: 'StartRotation', keyHash, nextKeyHash: hash() },
    upload: { type: 'ReceiveLogTail', keyHash, stamp: state.requests?.logTail ?? '' },
  };
  const begin = async (store: EventStore, command: MachineCommand) => {
    for (let turns = roll(6); turns > 0; turns -= 1) await Promise.resolve();
    return on(store, command);
  };
  const call = () =>
    begin(roll(2) === 0 ? one : other, calls[kind]).then(
      () => 'taken',
      (error: unknown) => (error instanceof Refusal ? error.code : error),
    );
  const remove = () => begin(roll(2) === 0 ? one : other, { type: 'DeleteMachine' });
  const both = roll(2) === 0 ? [call(), remove()] : [remove(), call()];
  const ended = await Promise.all(both);
  const [last] = (await one.readStream(stream)).slice(-1);
  return {
    outcome: ended.find((each) => typeof each === 'string' || each instanceof Error),
    last: last?.kind === 'event' ? last.event.type : 'CheckedIn',
    again: await on(other, { ...calls[kind], sequence: 3 } as MachineCommand).catch((error: Refusal) => error.code),
  };
};

/** What became of the calls, each outcome once. */
const allEndDeleted = async (kind: Kind, seeds: number, stores: readonly [EventStore, EventStore]) => {
  const outcomes = new Set<unknown>();
  for (let from = 0; from < seeds; from += 20) {
    const some = Array.from({ length: Math.min(20, seeds - from) }, (_, index) => from + index);
    const ends = await Promise.all(some.map((seed) => race(kind, seed, stores)));
    for (const { outcome, last, again } of ends) {
      expect([last, again]).toEqual(['MachineDeleted', 'credential-revoked']);
      outcomes.add(outcome);
    }
  }
  return outcomes;
};

/**
 * A deletion, and somebody who claims the identifier of the machine meanwhile, as one does who was just approved. Returns what became of the claim.
 */
const raceForIdentifier = async (seed: number, [one, other]: readonly [EventStore, EventStore]) => {
  const roll = dice(seed);
  const [machineId, successor] = [randomUUID(), randomUUID()];
  const identifierHash = machineId;
  const claim = async (store: EventStore, id: string) => {
    for (let turns = roll(6); turns > 0; turns -= 1) await Promise.resolve();
    const token = { ...admit().token, id: randomUUID(), expiresAt: Date.now() + 3_600_000 };
    const command = admit({ machineId: id, nodeId: id, keyHash: hash(), identifierHash, token });
    return store.decide(machine, { stream: machineStream(id) }, command, { actor }).then(
      () => 'admitted',
      (error: unknown) => (error instanceof ClaimTaken ? error.key : error),
    );
  };
  expect(await claim(one, machineId)).toBe('admitted');
  const store = () => (roll(2) === 0 ? one : other);
  const remove = async () => {
    for (let turns = roll(6); turns > 0; turns -= 1) await Promise.resolve();
    await store().decide(machine, { stream: machineStream(machineId) }, { type: 'DeleteMachine' }, { actor });
  };
  const claimed = roll(2) === 0 ? claim(store(), successor) : remove().then(() => claim(store(), successor));
  await Promise.all([claimed, remove()]);
  const [last] = (await one.readStream(machineStream(machineId))).slice(-1);
  return {
    outcome: await claimed,
    last: last?.kind === 'event' ? last.event.type : 'CheckedIn',
    // Whoever came too early has it now; of whoever was in time there is one.
    again: await claim(other, randomUUID()),
    key: identifierKey(identifierHash),
  };
};

/** Both orders happened, and nothing else did. */
const BOTH_ORDERS = new Set(['credential-revoked', 'taken']);

it('a deletion that overlaps a claim on the identifier ends deleted, 1,000 times; the claim is refused or has it, and there is never a second one (C09, O18, I9)', async () => {
  const outcomes = new Set<unknown>();
  let store = new InMemoryEventStore();
  for (let seed = 0; seed < 1_000; seed += 1) {
    // A short record is read quickly.
    if (seed % 50 === 0) {
      await store.close();
      store = new InMemoryEventStore();
    }
    const { outcome, last, again, key } = await raceForIdentifier(seed, [store, store]);
    expect(last).toBe('MachineDeleted');
    expect([outcome, again]).toEqual(outcome === 'admitted' ? ['admitted', key] : [key, 'admitted']);
    outcomes.add(outcome === 'admitted');
  }
  expect(outcomes.size).toBe(2);
  await store.close();
});

describe('a deletion that overlaps a call ends deleted, with no fact after it (C09, O31, I9)', () => {
  it.each(KINDS)('1,000 times in memory: %s', async (kind) => {
    const store = new InMemoryEventStore();
    expect(await allEndDeleted(kind, 1_000, [store, store])).toEqual(BOTH_ORDERS);
    await store.close();
  });

  describe('on two instances on one Postgres', () => {
    let database: FreshDatabase;
    let stores: readonly [PostgresEventStore, PostgresEventStore];
    beforeAll(async () => {
      database = await freshDatabase();
      const connect = () => PostgresEventStore.connect({ connectionString: database.url });
      stores = [await connect(), await connect()];
    });
    afterAll(async () => {
      await Promise.all(stores.map((store) => store.close()));
      await database.drop();
    });

    it.each(KINDS)(`${TIMES_ON_POSTGRES} times: %s`, async (kind) => {
      expect(await allEndDeleted(kind, TIMES_ON_POSTGRES, stores)).toEqual(BOTH_ORDERS);
    });
  });
});

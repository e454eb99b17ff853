import { randomUUID } from 'node:crypto';
import { LogBackedStore } from '@rollcall/event-store';
import { checkOf } from '@rollcall/event-store/testing';
import { credentialKey, machine, machineStream, type AcceptCheck } from '@rollcall/machine';
import { admit, check, NO_REPORT } from '@rollcall/machine/testing';
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { Owner } from '../../../test/support/owner.js';
import { freshDatabase, type FreshDatabase } from '../../../test/support/postgres.js';
import { PostgresEventStore, PostgresLog } from './index.js';

const actor = { kind: 'person', id: 'test' } as const;
const MACHINES = 100;

jest.setTimeout(120_000);

describe('the heads of machines', () => {
  let database: FreshDatabase;
  let owner: Owner;
  let stores: readonly LogBackedStore[];
  const fleet = Array.from({ length: MACHINES }, (_, index) => ({
    machineId: randomUUID(),
    keyHash: index.toString(16).padStart(64, '0'),
    index,
  }));
  type Member = (typeof fleet)[number];

  beforeAll(async () => {
    database = await freshDatabase();
    owner = await Owner.connect(database.ownerUrl);
    stores = [0, 1].map(() =>
      PostgresEventStore.over(new PostgresLog({ connectionString: database.url }), { deadlineMs: 30_000 }),
    );
    await Promise.all(
      fleet.map(({ machineId, keyHash, index }) =>
        store(index).decide(
          machine,
          { stream: machineStream(machineId) },
          {
            ...admit({
              machineId,
              keyHash,
              identifierHash: `identifier-${index}`,
              report: { ...NO_REPORT, hostname: `lab-${index}` },
            }),
            token: { id: `token-${index}`, expiresAt: Date.now() + 3_600_000, owner: 'person-1', name: null },
          },
          { actor },
        ),
      ),
    );
    await round(1);
  });
  afterAll(async () => {
    await Promise.all(stores.map((store) => store.close()));
    await owner[Symbol.asyncDispose]();
    await database.drop();
  });

  const store = (index: number) => stores[index % stores.length] as LogBackedStore;
  const accept = ({ keyHash, index }: Member, sequence: number, over: Partial<AcceptCheck> = {}) =>
    store(index + sequence).decide(
      machine,
      { claim: credentialKey(keyHash) },
      check({ keyHash, sequence, checkId: randomUUID(), blockers: ['disk-full'], name: `lab-${index}`, ...over }),
      { actor, commandId: null },
    );
  const round = (sequence: number) => Promise.all(fleet.map((member) => accept(member, sequence)));
  const ledger = () => owner.rows('select stream, revision, type from event order by position');
  const checks = () => owner.value<number>('select count(*)::integer from check_in');

  it('are updated in place by checks: at least 95 of 100 updates touch no index', async () => {
    const counters = async () => {
      // Sessions hand their counters in when they have been idle for a while; those of the plane are ended instead.
      await owner.terminate(await owner.sessions('rollcall%'));
      const [row] = await owner.rows<{ hot: number; all: number }>(
        `select n_tup_hot_upd::integer as hot, n_tup_upd::integer as all from pg_stat_user_tables where relname = 'stream_head'`,
      );
      return row ?? { hot: 0, all: 0 };
    };
    // A writing transaction that stays open anywhere in the cluster keeps old versions in their pages, and other test files have
    // such transactions for a while: what counts is that the share is reached, not that nobody ever spoils it.
    const TURNS = 20;
    const shares: number[] = [];
    for (let attempt = 0; attempt < 15 && !(Math.max(0, ...shares) >= 0.95); attempt += 1) {
      const before = await counters();
      for (let turn = 0; turn < TURNS; turn += 1) await round(2 + attempt * TURNS + turn);
      const after = await counters();
      expect(after.all - before.all).toBeGreaterThanOrEqual(TURNS * MACHINES);
      shares.push((after.hot - before.hot) / (after.all - before.all));
    }
    expect(Math.max(...shares)).toBeGreaterThanOrEqual(0.95);
  }, 180_000);

  it('can all be dropped under load, and nobody is alarmed: checks are taken, and no start, name, report or blocker is told twice', async () => {
    const facts = await ledger();
    const checkIns = await checks();
    const rounds = 10;
    let dropped = 0;
    for (let sequence = 1101; sequence < 1101 + rounds; sequence += 1) {
      const [, deleted] = await Promise.all([round(sequence), owner.rows('delete from stream_head returning 1')]);
      dropped += deleted.length;
    }
    expect(dropped).toBeGreaterThan(MACHINES);
    expect(await ledger()).toEqual(facts);
    expect(await checks()).toBe(checkIns + rounds * MACHINES);
    expect(await owner.rows(gapsInRevisions)).toEqual([]);
    // The state that is folded anew is the one that was kept, but for what is resettable.
    const [member] = fleet as [Member];
    const target = { stream: machineStream(member.machineId) };
    await accept(member, 1201);
    const kept = await store(0).view(machine, target);
    await owner.rows('delete from stream_head');
    const folded = await store(1).view(machine, target);
    expect(folded).toMatchObject({ revision: kept?.revision, lastCheckAt: kept?.lastCheckAt });
    const lasting = (state: typeof machine extends { initial(): infer State } ? State : never) => ({
      ...state,
      boots: undefined,
      checkIns: state.checkIns.window,
    });
    expect(folded && lasting(folded.state)).toEqual(kept && lasting(kept.state));
    // A repetition of the newest check is still one.
    const repeated = { sequence: 1202, checkId: randomUUID() };
    await accept(member, 1202, repeated);
    await owner.rows('delete from stream_head');
    expect(await accept(member, 1202, repeated)).toMatchObject({ repeated: true, batch: null });
    await expect(accept(member, 1150)).rejects.toMatchObject({ code: 'stale-check' });
  });

  it('are begun anew on the newest facts only: what was folded before a later check conflicts, and leaves no head behind', async () => {
    const [, member] = fleet as [Member, Member];
    const stream = machineStream(member.machineId);
    const log = new PostgresLog({ connectionString: database.url });
    const before = (await store(0).view(machine, { stream }))?.revision ?? 0;
    await accept(member, 1301);
    await owner.rows('delete from stream_head where stream = $1', [stream]);
    const head = { stream, fresh: true, fold: machine.fold, state: '{}', events: [], claims: [] };
    const late = (revision: number) => ({ revision, checkIn: checkOf(stream, 1302) });
    const { batch, outcomes } = await log.append([
      { ...head, expected: before, revision: before + 1, checkIns: [late(before + 1)] },
    ]);
    expect({ batch, outcomes }).toEqual({ batch: null, outcomes: ['conflict'] });
    expect(await owner.rows('select from stream_head where stream = $1', [stream])).toEqual([]);
    expect(await owner.rows(gapsInRevisions)).toEqual([]);
    await log.close();
  });

  const gapsInRevisions = `
    with facts as (
      select stream, revision from event
      union all select 'machine-' || machine, revision from check_in
    )
    select stream from facts group by stream having count(*) <> max(revision) or count(distinct revision) <> count(*)`;
});

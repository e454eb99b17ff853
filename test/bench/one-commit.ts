import { randomUUID } from 'node:crypto';
import { LogBackedStore } from '@rollcall/event-store';
import { PostgresLog } from '@rollcall/event-store-postgres';
import { credentialKey, machine } from '@rollcall/machine';
import { hashOf } from '@rollcall/wire';
import type { LoadMachine } from './load.js';

/** The way not taken: one connection for each machine, a transaction for each check, and no HTTP. Answers checks a second. */
export const oneCommitPerCheck = async (
  connectionString: string,
  { machines, seconds }: { readonly machines: readonly LoadMachine[]; readonly seconds: number },
): Promise<number> => {
  const stores = machines.map(
    () => new LogBackedStore(new PostgresLog({ connectionString, readers: 1 }), { batchLimit: 1 }),
  );
  const from = performance.now();
  const until = from + seconds * 1_000;
  let checks = 0;
  await Promise.all(
    stores.map(async (store, index) => {
      const own = machines[index] as LoadMachine;
      const keyHash = hashOf(own.credential);
      while (performance.now() < until) {
        own.sequence += 1;
        await store.decide(
          machine,
          { claim: credentialKey(keyHash) },
          {
            type: 'AcceptCheck',
            keyHash,
            boot: own.boot,
            sequence: own.sequence,
            checkId: randomUUID(),
            said: 'running',
            reason: null,
            blockers: [],
            notProbed: [],
            name: null,
            report: {},
            chain: null,
            policy: { interval: 30, windowFloor: 120 },
          },
          { actor: { kind: 'machine', id: 'bench' }, commandId: null },
        );
        checks += 1;
      }
    }),
  );
  const perSecond = checks / ((performance.now() - from) / 1_000);
  await Promise.all(stores.map((store) => store.close()));
  return perSecond;
};

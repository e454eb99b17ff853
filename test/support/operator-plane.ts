import { randomBytes, randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ensureFirstPerson, issueSignInLink, signInAddress } from '@rollcall/first-person';
import { PostgresEventStore } from '@rollcall/event-store-postgres';
import { Lifetime } from '@rollcall/lifetimes';
import { PostgresLogTails } from '@rollcall/log-tails';
import { credentialKey, machine, machineStream, type AcceptCheck } from '@rollcall/machine';
import { check } from '@rollcall/machine/testing';
import { createLogger, type Logger } from '@rollcall/nest-platform';
import { readOperatorApiConfig, start, type OperatorApi } from '@rollcall/operator-api';
import { Follower, openReadModels, READ_MODELS, ReadModelQueries } from '@rollcall/read-models';
import { eventually } from './processes.js';
import { freshDatabase } from './postgres.js';

/** A machine that joined, as far as people see it. */
export type JoinedMachine = {
  readonly id: string;
  /** Records its next check. */
  check(over?: Partial<AcceptCheck>): Promise<void>;
  /** Records that the upload for the request with this stamp was received. */
  upload(stamp: string): Promise<void>;
};

/** What people call, on a database of its own, with read models that follow. */
export type OperatorPlane = {
  readonly api: OperatorApi;
  readonly store: PostgresEventStore;
  readonly tails: PostgresLogTails;
  readonly personId: string;
  /** Starts one more instance on the same record. */
  another(): Promise<OperatorApi>;
  /** A new one-time link, as a person pastes it. */
  link(): Promise<string>;
  /** Lets a machine join. (Default owner: the first person; Default name: the one that its first check tells) */
  join(options?: { readonly owner?: string; readonly name?: string | null }): Promise<JoinedMachine>;
  /** Resolves when the read models show all that is recorded. */
  caughtUp(): Promise<void>;
  close(): Promise<void>;
};

/** Starts it. (Default logger: silent) */
export const startOperatorPlane = async (
  logger: Logger = createLogger({ name: 'test', level: 'silent' }),
): Promise<OperatorPlane> => {
  const database = await freshDatabase();
  const directory = await mkdtemp(join(tmpdir(), 'rollcall-operator-'));
  const store = await PostgresEventStore.connect({ connectionString: database.url });
  const readModels = openReadModels({ connectionString: database.url });
  const tails = new PostgresLogTails({ connectionString: database.url, applicationName: 'test' });
  const loops = new Lifetime();
  for (const model of READ_MODELS) {
    const follower = new Follower({ database: readModels, store, model, log: logger, lookEvery: 50 });
    loops.run((signal) => follower.run(signal));
  }
  const config = readOperatorApiConfig({
    ROLLCALL_DATABASE_URL: database.url,
    ROLLCALL_OPERATOR_API_PORT: '0',
    ROLLCALL_CA_DIR: directory,
  });
  const instances: OperatorApi[] = [];
  const another = async (): Promise<OperatorApi> => {
    const instance = await start(config, logger);
    instances.push(instance);
    return instance;
  };
  const api = await another();
  const { personId } = await ensureFirstPerson(store, { name: 'Ada' });
  const queries = new ReadModelQueries(readModels, store);

  return {
    api,
    store,
    tails,
    personId,
    another,
    link: async () => {
      const { secret } = await issueSignInLink(store, personId);
      return signInAddress(secret, { operatorApi: api.url, pins: api.pins });
    },
    join: ({ owner = personId, name = null } = {}) => joinMachine(store, owner, name),
    caughtUp: () =>
      eventually('the read models show all', async () => {
        const status = await queries.status();
        return (
          status.length === READ_MODELS.length &&
          status.every(({ lagBatches, rebuilding }) => lagBatches === '0' && !rebuilding)
        );
      }),
    close: async () => {
      await Promise.all(instances.map((instance) => instance.close()));
      await loops.end();
      await Promise.all([store.close(), readModels.destroy(), tails.close()]);
      await Promise.all([database.drop(), rm(directory, { recursive: true })]);
    },
  };
};

const joinMachine = async (store: PostgresEventStore, owner: string, name: string | null): Promise<JoinedMachine> => {
  const id = randomUUID();
  const keyHash = randomBytes(32).toString('hex');
  await store.decide(
    machine,
    { stream: machineStream(id) },
    {
      type: 'AdmitMachine',
      machineId: id,
      nodeId: randomUUID(),
      token: { id: randomUUID(), expiresAt: Date.now() + 60_000, owner, name },
      identifierHash: randomBytes(32).toString('hex'),
      keyHash,
      report: { hostname: 'ip-10-0-0-7', agentVersion: '0.1.0', platform: 'linux', arch: 'x64' },
    },
    { actor: { kind: 'person', id: owner }, commandId: randomUUID() },
  );
  let sequence = 0;
  return {
    id,
    check: async (over = {}) => {
      sequence += 1;
      await store.decide(
        machine,
        { claim: credentialKey(keyHash) },
        check({ keyHash, sequence, checkId: randomUUID(), name: 'ip-10-0-0-7', ...over }),
        { actor: { kind: 'machine', id } },
      );
    },
    upload: async (stamp) => {
      const command = { type: 'ReceiveLogTail', keyHash, stamp } as const;
      await store.decide(machine, { stream: machineStream(id) }, command, { actor: { kind: 'machine', id } });
    },
  };
};

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
import { person, personStream } from '@rollcall/person';
import { Follower, openReadModels, READ_MODELS, ReadModelQueries, RecordFollower } from '@rollcall/read-models';
import { EndpointNotices, openWebhooks, readWebhookKey, WebhookQueue, WebhookSecrets } from '@rollcall/webhooks';
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
  /** The database, with all rights. */
  readonly ownerUrl: string;
  /** Starts one more instance on the same record. (Default: with the same settings) */
  another(settings?: Readonly<Record<string, string>>): Promise<OperatorApi>;
  /** A new one-time link, as a person pastes it. (Default: the first person) */
  link(personId?: string): Promise<string>;
  /** Makes somebody else known; answers their id. */
  anotherPerson(name: string): Promise<string>;
  /** The secrets of a webhook that are valid, the newest first. */
  secretsOf(webhook: string): Promise<readonly string[]>;
  /** Seals an address, as a request does that gets no further. */
  sealOnly(webhook: string, url: string): Promise<void>;
  /** Lets a machine join. (Default owner: the first person; Default name: the one that its first check tells) */
  join(options?: { readonly owner?: string; readonly name?: string | null }): Promise<JoinedMachine>;
  /** Resolves when the read models show all that is recorded. */
  caughtUp(): Promise<void>;
  close(): Promise<void>;
};

/** Starts it. (Default logger: silent; Default settings: those that it needs) */
export const startOperatorPlane = async (
  logger: Logger = createLogger({ name: 'test', level: 'silent' }),
  settings: Readonly<Record<string, string>> = {},
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
  const connection = { connectionString: database.url, applicationName: 'test' };
  const webhooks = openWebhooks(connection);
  const queue = await WebhookQueue.open({ ...connection, looksAfter: false });
  const secrets = new WebhookSecrets(await readWebhookKey(settings['ROLLCALL_WEBHOOK_KEY_FILE'] ?? null));
  const notices = new RecordFollower({
    followed: new EndpointNotices({ database: webhooks, queue, log: logger }),
    store,
    log: logger,
    lookEvery: 50,
  });
  loops.run((signal) => notices.run(signal));
  const environment = {
    ROLLCALL_DATABASE_URL: database.url,
    ROLLCALL_OPERATOR_API_PORT: '0',
    ROLLCALL_CA_DIR: directory,
    ...settings,
  };
  const instances: OperatorApi[] = [];
  const another = async (over: Readonly<Record<string, string>> = {}): Promise<OperatorApi> => {
    const instance = await start(readOperatorApiConfig({ ...environment, ...over }), logger);
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
    ownerUrl: database.ownerUrl,
    another,
    link: async (person = personId) => {
      const { secret } = await issueSignInLink(store, person);
      return signInAddress(secret, { operatorApi: api.url, pins: api.pins });
    },
    anotherPerson: async (name) => {
      const id = randomUUID();
      const registration = { type: 'RegisterPerson', name } as const;
      await store.decide(person, { stream: personStream(id) }, registration, { actor: { kind: 'plane', id: 'test' } });
      return id;
    },
    secretsOf: async (webhook) => (await secrets.open(webhooks, webhook))?.secrets ?? [],
    sealOnly: async (webhook, url) => {
      await webhooks.transaction().execute((transaction) => secrets.create(transaction, webhook, url));
    },
    join: ({ owner = personId, name = null } = {}) => joinMachine(store, owner, name),
    caughtUp: () =>
      eventually('the read models show all', async () => {
        const status = await queries.status();
        const lookedThrough = notices.status().place?.checkpoint === (await store.newest()).number;
        return (
          lookedThrough &&
          status.length === READ_MODELS.length &&
          status.every(({ lagBatches, rebuilding }) => lagBatches === '0' && !rebuilding)
        );
      }),
    close: async () => {
      await Promise.all(instances.map((instance) => instance.close()));
      await loops.end();
      await Promise.all([store.close(), readModels.destroy(), tails.close(), queue.close(), webhooks.destroy()]);
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

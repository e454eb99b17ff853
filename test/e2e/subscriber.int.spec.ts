import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { InMemoryEventStore } from '@rollcall/event-store/testing';
import { EmbeddedNats, findNatsServer } from '@rollcall/embedded-nats';
import { NATS_RIGHTS, NatsFeed } from '@rollcall/feed-nats';
import { machine, machineStream } from '@rollcall/machine';
import { admit, keyHash } from '@rollcall/machine/testing';
import { Relay, type RelayRecord } from '@rollcall/relay';
import { InMemoryRelayCursor } from '@rollcall/relay/testing';
import { startNats, type TestNats } from '../support/nats.js';
import { eventually, freePort, Processes, type Running } from '../support/processes.js';

const EXAMPLE = join(import.meta.dirname, '../../docs/examples/subscriber.mjs');
const NOON = Date.UTC(2026, 0, 1, 12);
const MIB = 1024 ** 2;
const silent = { info: () => undefined, warn: () => undefined, error: () => undefined };

let nats: TestNats;
let processes: Processes;
let store: InMemoryEventStore;
let machines = 0;

beforeAll(async () => {
  nats = await startNats();
  processes = new Processes();
}, 120_000);
afterAll(async () => {
  try {
    await processes.close();
  } finally {
    await nats.close();
  }
});
afterEach(() => store.close());

/** Records the admission of a machine: two events. */
const record = async () => {
  machines += 1;
  const machineId = `0192f0c4-0000-7000-8000-${String(machines).padStart(12, '0')}`;
  const token = { id: `token-${machines}`, expiresAt: NOON + 3_600_000, owner: 'anna', name: null };
  const command = admit({
    machineId,
    nodeId: machineId,
    token,
    identifierHash: `identifier-${machines}`,
    keyHash: keyHash(machines),
  });
  const options = { actor: { kind: 'person', id: 'anna' } } as const;
  await store.decide(machine, { stream: machineStream(machineId) }, command, options);
  return machineId;
};

const subscribe = async (name: string): Promise<Running> =>
  processes.start(name, process.execPath, [EXAMPLE, name, 'rollcall.machine.MachineAdmitted.*'], {
    env: { NATS_URL: nats.url, NATS_USER: 'subscriber', NATS_PASSWORD: await nats.password('subscriber') },
  });
const printed = (subscriber: Running) =>
  [...subscriber.stdout().matchAll(/ MachineAdmitted machine-(\S+) by person anna /g)].map(([, id]) => id);

/** Publishes all that is recorded, from the first batch on. */
const publishAll = async (server: EmbeddedNats = nats.server) => {
  const feed = await NatsFeed.connect({
    servers: [server.url],
    credentials: { relay: server.credentialsFile('relay'), reader: server.credentialsFile('projector') },
    sizes: { eventBytes: 64 * MIB, batchBytes: 64 * MIB },
  });
  const reading: RelayRecord = {
    readBatches: (after, limit) => store.readBatches(after, limit),
    newest: () => store.newest(),
    epoch: () => store.epoch(),
    // Each test has a record of its own at one server, and to a relay the younger one looks like an older copy.
    renewEpoch: () => {
      store.renewEpoch();
      return store.epoch();
    },
    // Nothing counts as published before the start, so nothing of it can be lost.
    batchOfEvent: () => Promise.resolve(null),
    onAppended: (listener) => store.onAppended(listener),
  };
  const relay = new Relay({ record: reading, feed, cursor: new InMemoryRelayCursor(), log: silent });
  const over = new AbortController();
  const run = relay.run(over.signal);
  const { number: head } = await store.newest();
  await eventually('all is published', async () => {
    const { cursor, failure } = relay.status();
    if (failure !== null) throw new Error(failure);
    return Promise.resolve(cursor === head);
  });
  over.abort();
  await run;
  await feed.close();
};

describe('the example of a subscriber', () => {
  it('prints each event that it asked for once, although all of them are published again under another epoch (U2, I6)', async () => {
    store = new InMemoryEventStore({ now: () => NOON });
    const subscriber = await subscribe('one');
    const expected = [await record(), await record(), await record()];
    await publishAll();
    await eventually('all are printed', () => Promise.resolve(printed(subscriber).length === 3));
    store.renewEpoch(); // the ids of the messages are others now, so the server stores them again
    expected.push(await record());
    await publishAll();
    await eventually('the new one is printed', () => Promise.resolve(printed(subscriber).length >= 4));
    expect(printed(subscriber)).toEqual(expected);
    expect(subscriber.stdout()).not.toMatch(/GenerationRegistered|Hash/);
    expect(await subscriber.stop('SIGINT')).toEqual({ code: 0, signal: null });
  });

  it('goes on where it was with the same name, also when the server was gone, or its store', async () => {
    store = new InMemoryEventStore({ now: () => NOON });
    const before = await subscribe('two');
    const first = await record();
    await publishAll();
    await eventually('the first is printed', () => Promise.resolve(printed(before).includes(first)));
    await before.stop();
    const second = await record();
    await publishAll();
    const after = await subscribe('two');
    await eventually('the second is printed', () => Promise.resolve(printed(after).includes(second)));

    await nats.server.kill();
    await nats.server.start();
    const third = await record();
    await publishAll();
    await eventually('the third is printed', () => Promise.resolve(printed(after).includes(third)));

    await nats.server.kill();
    await rm(nats.server.storeDirectory, { recursive: true });
    await nats.server.start();
    const fourth = await record();
    await publishAll();
    await eventually('the fourth is printed', () => Promise.resolve(printed(after).includes(fourth)), 30_000);
    expect(new Set(printed(after)).size).toBe(printed(after).length);

    await nats.server.kill();
    expect(await after.stop('SIGINT')).toEqual({ code: 0, signal: null });
    await nats.server.start();
  });

  it('ends with an error when its password is no longer the right one, and does not try for ever', async () => {
    store = new InMemoryEventStore({ now: () => NOON });
    const directory = await mkdtemp(join(tmpdir(), 'rollcall-password-'));
    const users = [{ name: 'subscriber', ...NATS_RIGHTS.subscriber }];
    const port = await freePort();
    let server = await EmbeddedNats.open({ directory, port, users });
    try {
      const [, pass = ''] = (await readFile(server.credentialsFile('subscriber'), 'utf8')).trim().split(':');
      const env = { NATS_URL: server.url, NATS_USER: 'subscriber', NATS_PASSWORD: pass };
      const subscriber = await processes.start('refused', process.execPath, [EXAMPLE, 'refused'], { env });
      await subscriber.waitFor(/trying again: stream not found/);
      await server.stop();
      await rm(server.credentialsFile('subscriber'));
      server = await EmbeddedNats.open({ directory, port, users });
      expect(await subscriber.exited).toEqual({ code: 1, signal: null });
      expect(subscriber.output()).toMatch(/Authorization Violation/i);
    } finally {
      await server.stop();
      await rm(directory, { recursive: true });
    }
  });

  it('is kept to machines by the rights that docs/subscribing.md names', async () => {
    store = new InMemoryEventStore({ now: () => NOON });
    const directory = await mkdtemp(join(tmpdir(), 'rollcall-rights-'));
    const { relay, projector, subscriber } = NATS_RIGHTS;
    const rights = { publish: await documentedRights(), subscribe: subscriber.subscribe };
    const users = Object.entries({ relay, projector, subscriber: rights }).map(([name, own]) => ({ name, ...own }));
    const program = await findNatsServer(process.env);
    if (program === null) throw new Error('It was there a moment ago');
    const server = await EmbeddedNats.open({ directory, port: await freePort(), program, users });
    try {
      const [, pass = ''] = (await readFile(server.credentialsFile('subscriber'), 'utf8')).trim().split(':');
      const env = { NATS_URL: server.url, NATS_USER: 'subscriber', NATS_PASSWORD: pass };
      const start = (name: string, filter: string) =>
        processes.start(name, process.execPath, [EXAMPLE, name, filter], { env });
      const admitted = await record();
      await publishAll(server);
      const allowed = await start('my-name', 'rollcall.machine.*.*');
      await eventually('it is printed', () => Promise.resolve(printed(allowed).includes(admitted)));
      await allowed.stop();
      for (const refused of [
        await start('my-name', 'rollcall.person.*.*'),
        await start('other', 'rollcall.machine.*.*'),
      ]) {
        await refused.waitFor(/trying again/);
        await refused.stop();
        expect(refused.stdout()).toBe('');
      }
    } finally {
      await server.stop();
      await rm(directory, { recursive: true });
    }
  });
});

/** What a subscriber that sees machines only may publish to, as the page says it. */
const documentedRights = async () => {
  const page = await readFile(join(import.meta.dirname, '../../docs/subscribing.md'), 'utf8');
  const [, block = ''] = /publish: \[([^\]]*)\]/.exec(page) ?? [];
  return [...block.matchAll(/"([^"]+)"/g)].map(([, subject = '']) => subject);
};

import { randomBytes, randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { token, tokenStream } from '@rollcall/admission';
import { PostgresEventStore } from '@rollcall/event-store-postgres';
import { machine, machineStream, type MachineCommand, type MachineState } from '@rollcall/machine';
import { loadOrCreateAuthority, type PlaneAuthority } from '@rollcall/plane-ca';
import { createPrivateFile } from '@rollcall/secret-file';
import { encodeEnrolmentToken, hashOf, makeSecret } from '@rollcall/wire';
import { Door } from './door.js';
import { freshDatabase, type FreshDatabase } from './postgres.js';
import { freePort, Processes, type Running } from './processes.js';

const root = resolve(import.meta.dirname, '../..');

/** Whoever acts for people in these tests. */
export const PERSON = { kind: 'person', id: 'person-1' } as const;

/** What machines see of a plane: instances of the machine API from `dist`, real processes on a record of their own, and nothing beside them. */
export class MachineApis implements AsyncDisposable {
  private constructor(
    private readonly begun: AsyncDisposableStack,
    readonly processes: Processes,
    readonly database: FreshDatabase,
    readonly store: PostgresEventStore,
    /** Scratch space that goes with them. */
    readonly directory: string,
    private readonly authority: PlaneAuthority,
    private readonly ports: readonly number[],
    readonly instances: Running[],
  ) {}

  static async start(count: number): Promise<MachineApis> {
    await using begun = new AsyncDisposableStack();
    const directory = await mkdtemp(join(tmpdir(), 'rollcall-machine-apis-'));
    begun.defer(() => rm(directory, { recursive: true, force: true }));
    const database = await freshDatabase();
    begun.defer(() => database.drop());
    const store = await PostgresEventStore.connect({ connectionString: database.url, applicationName: 'test' });
    begun.defer(() => store.close());
    await createPrivateFile(join(directory, 'chain.key'), randomBytes(32).toString('base64url'));
    const authority = await loadOrCreateAuthority(join(directory, 'ca'));
    const processes = begun.use(new Processes());
    const ports: number[] = [];
    while (ports.length < count) ports.push(await freePort());
    const apis = new MachineApis(begun.move(), processes, database, store, directory, authority, ports, []);
    try {
      await Promise.all(ports.map((_, index) => apis.startInstance(index)));
      return apis;
    } catch (error) {
      await apis[Symbol.asyncDispose]();
      throw error;
    }
  }

  /** Starts one that is not there, or not any more, on its port; resolves when machines can check in. */
  async startInstance(index: number): Promise<void> {
    this.instances[index] = await this.processes.start(
      'machine-api',
      process.execPath,
      [join(root, 'dist/apps/machine-api/main.js')],
      {
        env: {
          ROLLCALL_DATABASE_URL: this.database.url,
          ROLLCALL_CA_DIR: join(this.directory, 'ca'),
          ROLLCALL_CHAIN_KEY_FILE: join(this.directory, 'chain.key'),
          ROLLCALL_TEST_SHORT_WINDOWS: '1',
          ROLLCALL_INTERVAL_SECONDS: '1',
          ROLLCALL_MACHINE_API_PORT: String(this.ports[index]),
        },
        ready: /machines can check in/,
        readyWithin: 120_000,
      },
    );
  }

  /** A way to all instances for one machine. */
  async door(): Promise<Door> {
    const origins = this.ports.map((port) => `https://127.0.0.1:${port}`);
    return this.begun.use(await Door.open(this.authority, origins));
  }

  /** The pin that a machine expects behind each door. */
  get pin(): string {
    return this.authority.pin;
  }

  /** A token that a person issued, for one machine that comes through this door. */
  async token(door: Door): Promise<string> {
    const secret = makeSecret('rce');
    await this.store.decide(
      token,
      { stream: tokenStream(randomUUID()) },
      { type: 'IssueToken', tokenHash: hashOf(secret), owner: PERSON.id, name: null, expiresIn: 86_400 },
      { actor: PERSON },
    );
    return encodeEnrolmentToken({ address: door.url, pins: [this.pin], secret });
  }

  /** Has a person do something to a machine. */
  async byPerson(machineId: string, command: MachineCommand): Promise<void> {
    await this.store.decide(machine, { stream: machineStream(machineId) }, command, { actor: PERSON });
  }

  /** What the record says of a machine. */
  async stateOf(machineId: string): Promise<MachineState> {
    const view = await this.store.view(machine, { stream: machineStream(machineId) });
    if (!view) throw new Error(`There is no machine ${machineId}`);
    return view.state;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.begun.disposeAsync();
  }
}

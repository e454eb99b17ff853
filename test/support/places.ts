import { readdirSync, readFileSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { EVENT_STREAM, BATCH_STREAM } from '@rollcall/feed';
import { jetstreamManager } from '@nats-io/jetstream';
import { connect } from '@nats-io/transport-node';
import type { TestNats } from './nats.js';
import { Owner } from './owner.js';

/** Something that was written down, and where. */
export type Place = { readonly where: string; readonly bytes: Buffer };

/** A dump of what a server process knew of its catalogue, pointers included: four bytes of one may look like any address. */
const CATALOGUE_CACHE = 'pg_internal.init';

/** Every row of every table in every schema, those of the server included, as text; and the server's files once all of it is on the disk. */
export async function* placesOfDatabase(ownerUrl: string, directory: string): AsyncGenerator<Place> {
  await using owner = await Owner.connect(ownerUrl);
  const tables = await owner.rows<{ name: string }>(
    `select format('%I.%I', nspname, relname) as name from pg_class join pg_namespace n on n.oid = relnamespace
     where relkind in ('r', 'm') order by 1`,
  );
  for (const { name } of tables) {
    const rows = await owner.rows<{ row: string }>(`select t::text as row from ${name} t`);
    yield { where: `table ${name}`, bytes: Buffer.from(rows.map(({ row }) => row).join('\n')) };
  }
  await owner.rows('checkpoint');
  for await (const place of placesOfFiles('database', directory))
    if (!place.where.endsWith(CATALOGUE_CACHE)) yield place;
}

/** Every file of a directory. */
export async function* placesOfFiles(whose: string, directory: string): AsyncGenerator<Place> {
  for (const entry of await readdir(directory, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue;
    const path = join(entry.parentPath, entry.name);
    // A server that runs on takes files away meanwhile.
    const bytes = await readFile(path).catch(() => null);
    if (bytes) yield { where: `${whose} file ${path}`, bytes };
  }
}

/** Every message of both streams, with its subject and its headers. */
export async function* placesOfMessages(nats: TestNats): AsyncGenerator<Place> {
  const connection = await connect({ servers: nats.url, user: 'admin', pass: await nats.password('admin') });
  try {
    const { streams } = await jetstreamManager(connection, { checkAPI: false });
    for (const stream of [EVENT_STREAM, BATCH_STREAM]) {
      const { state } = await streams.info(stream);
      for (let seq = state.first_seq; seq <= state.last_seq; seq += 1) {
        const message = await streams.getMessage(stream, { seq });
        if (!message) continue;
        const { subject, header, data } = message;
        const head = [subject, ...[...header].map(([name, values]) => `${name}: ${values.join()}`)].join('\n');
        yield { where: `message ${seq} of ${stream}`, bytes: Buffer.concat([Buffer.from(`${head}\n`), data]) };
      }
    }
  } finally {
    await connection.close();
  }
}

/** What every process of this machine was started with, for as long as this watches: a command line or an environment is anybody's to read. */
export class ProcessWatch implements AsyncDisposable {
  readonly #seen = new Map<string, Place>();
  readonly #over = new AbortController();
  readonly #looking: Promise<void>;

  constructor() {
    this.#looking = this.#look();
  }

  get places(): readonly Place[] {
    return [...this.#seen.values()];
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#over.abort();
    await this.#looking;
  }

  /** Often enough that no Node program is over before it was seen. */
  async #look(): Promise<void> {
    while (!this.#over.signal.aborted) {
      for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name)))
        for (const what of ['cmdline', 'environ']) this.#read(pid, what);
      await wait(30);
    }
  }

  #read(pid: string, what: string): void {
    try {
      const bytes = readFileSync(`/proc/${pid}/${what}`);
      this.#seen.set(`${pid} ${what} ${bytes.length}`, { where: `${what} of process ${pid}`, bytes });
    } catch {
      // It has ended, or is somebody else's.
    }
  }
}

import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { EmbeddedCluster } from '@rollcall/embedded-postgres';
import { migrate } from '@rollcall/migrations';
import type pg from 'pg';
import type { FreshDatabase } from './postgres.js';
import { freePort } from './processes.js';

const DATABASE = 'rollcall';

/** A server of a test's own: what is done to it is done to nobody else, and its files are nobody else's. */
export type OwnCluster = {
  /** Where it lives: `data/`, `password`, `postgres.log`. */
  readonly directory: string;
  /** Its one migrated database; `drop` ends the server and removes it. */
  readonly database: FreshDatabase;
  /** What services are told to find it, with the password in an owner-only file. */
  readonly settings: Readonly<Record<'ROLLCALL_DATABASE_URL' | 'ROLLCALL_DATABASE_PASSWORD_FILE', string>>;
  /** Runs a statement as the superuser, in that database or in another one. */
  query(statement: string, database?: string): Promise<pg.QueryResult>;
  /** `immediate` is like a power cut of the server. (Default: fast) */
  stop(mode?: 'fast' | 'immediate'): Promise<void>;
  start(): Promise<void>;
};

/** Starts it. @param serverSettings from when on the passwords are set (Default: those that Postgres has of itself) */
export const ownCluster = async (serverSettings: Readonly<Record<string, string>> = {}): Promise<OwnCluster> => {
  const directory = await mkdtemp(join(tmpdir(), 'rollcall-cluster-'));
  const cluster = await EmbeddedCluster.open({ directory, port: await freePort() });
  const drop = async () => {
    await cluster.stop('immediate');
    await rm(directory, { recursive: true, force: true });
  };
  try {
    await cluster.ensureDatabase(DATABASE);
    const ownerUrl = cluster.url(DATABASE);
    await migrate({ connectionString: ownerUrl, directory: resolve(import.meta.dirname, '../../infra/migrations') });
    const url = await cluster.loginAs('rollcall_app', DATABASE);
    const { password } = new URL(url);
    const passwordFile = join(directory, 'rollcall_app.password');
    await writeFile(passwordFile, `${password}\n`, { mode: 0o600 });
    await cluster.stop();
    await cluster.start(serverSettings);
    return {
      directory,
      database: { url, ownerUrl, drop },
      settings: {
        ROLLCALL_DATABASE_URL: url.replace(`:${password}`, ''),
        ROLLCALL_DATABASE_PASSWORD_FILE: passwordFile,
      },
      query: (statement, name = DATABASE) => cluster.query(statement, name),
      stop: (mode) => cluster.stop(mode),
      start: () => cluster.start(serverSettings),
    };
  } catch (error) {
    await drop();
    throw error;
  }
};

import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { EmbeddedCluster } from '@rollcall/embedded-postgres';
import { migrate } from '@rollcall/migrations';
import pg from 'pg';
import { freePort } from './processes.js';

/** A migrated database of its own, cloned from the template of this jest run. */
export type FreshDatabase = {
  /** Connects as the application role, with no more rights than the plane has. */
  readonly url: string;
  /** Connects as the superuser, for faults and for looking. */
  readonly ownerUrl: string;
  /** Ends all connections and removes it. */
  drop(): Promise<void>;
};

type Cluster = { readonly directory: string; readonly port: number; readonly url: string };

/** How to reach the cluster that the global setup started. */
export const testCluster = (): Cluster => {
  const text = process.env['ROLLCALL_TEST_CLUSTER'];
  if (!text)
    throw new Error(
      'No test cluster: run this file with `jest --selectProjects int` (or e2e), whose setup starts one.',
    );
  return JSON.parse(text) as Cluster;
};

/** Makes a database for one test file (or test). */
export const freshDatabase = async (): Promise<FreshDatabase> => {
  const cluster = testCluster();
  const name = `test_${randomBytes(6).toString('hex')}`;
  await admin(cluster, `create database ${name} template template_rollcall`);
  const at = (user: string) => {
    const url = new URL(cluster.url);
    url.pathname = `/${name}`;
    if (user !== 'postgres') url.username = url.password = user;
    return url.toString();
  };
  return {
    url: at('rollcall_app'),
    ownerUrl: at('postgres'),
    drop: () => admin(cluster, `drop database if exists ${name} with (force)`),
  };
};

// Postgres lets one session at a time copy a template; files that start together wait for each other.
const admin = async (cluster: Cluster, statement: string): Promise<void> => {
  const client = new pg.Client({ connectionString: cluster.url });
  await client.connect();
  try {
    await client.query('select pg_advisory_lock(55)');
    await client.query(statement);
  } finally {
    await client.end();
  }
};

/** A server of a test's own: what is done to it is done to nobody else. */
export type OwnCluster = {
  /** Its one migrated database; `drop` ends the server and removes it. */
  readonly database: FreshDatabase;
  stop(): Promise<void>;
  start(): Promise<void>;
};

/** Starts a server for one test, with the settings that Postgres has of itself. */
export const ownCluster = async (): Promise<OwnCluster> => {
  const directory = await mkdtemp(join(tmpdir(), 'rollcall-own-cluster-'));
  const cluster = await EmbeddedCluster.open({ directory, port: await freePort() });
  await cluster.ensureDatabase('rollcall');
  const ownerUrl = cluster.url('rollcall');
  await migrate({ connectionString: ownerUrl, directory: resolve(import.meta.dirname, '../../infra/migrations') });
  const drop = async () => {
    await cluster.stop('immediate');
    await rm(directory, { recursive: true, force: true });
  };
  return {
    database: { url: await cluster.loginAs('rollcall_app', 'rollcall'), ownerUrl, drop },
    stop: () => cluster.stop(),
    start: () => cluster.start(),
  };
};

import { randomBytes } from 'node:crypto';
import pg from 'pg';

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

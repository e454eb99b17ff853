import pg from 'pg';

/** The superuser's hands on a test's database: to look behind the record, and to break things. */
export class Owner implements AsyncDisposable {
  private constructor(readonly client: pg.Client) {}

  static async connect(ownerUrl: string): Promise<Owner> {
    const client = new pg.Client({ connectionString: ownerUrl, application_name: 'owner' });
    client.on('error', () => undefined); // The database may be dropped before us.
    await client.connect();
    return new Owner(client);
  }

  /** Runs one statement (or several, without values). */
  async rows<Row extends pg.QueryResultRow>(statement: string, values?: readonly unknown[]): Promise<Row[]> {
    return (await this.client.query<Row>(statement, values && [...values])).rows;
  }

  /** The value of a one-column, one-row answer. */
  async value<Value>(statement: string, values?: readonly unknown[]): Promise<Value> {
    const [row] = await this.rows<Record<string, Value>>(statement, values);
    return Object.values(row ?? {})[0] as Value;
  }

  /** The server processes of the sessions with this application name in this database. */
  async sessions(applicationName: string, state = '%'): Promise<readonly number[]> {
    const found = await this.rows<{ pid: number }>(
      `select pid from pg_stat_activity
       where datname = current_database() and application_name like $1 and coalesce(state, '') like $2`,
      [applicationName, state],
    );
    return found.map(({ pid }) => pid);
  }

  /** Ends server processes as a crash of the connection would, and waits until they are gone. */
  async terminate(pids: readonly number[]): Promise<void> {
    await this.rows('select pg_terminate_backend(pid, 5000) from unnest($1::integer[]) pid', [pids]);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.client.end().catch(() => undefined);
  }
}

import pg from 'pg';

/** How the record's times and numbers come out of Postgres: milliseconds and bigint, never a Date or a rounded number. */
const types = {
  getTypeParser: ((oid: number, format?: 'text') => {
    if (oid === pg.types.builtins.INT8) return BigInt;
    if (oid === pg.types.builtins.TIMESTAMPTZ) return instantOf;
    return pg.types.getTypeParser(oid, format) as unknown;
  }) as typeof pg.types.getTypeParser,
};

/** `2026-11-29 14:02:10.123+00` (sessions are in UTC) → milliseconds since the epoch. */
export const instantOf = (text: string): number => Date.parse(text.replace(' ', 'T').replace(/\+00$/, 'Z'));

/** Milliseconds → what Postgres reads as `timestamptz`. */
export const timestampOf = (instant: number): string => new Date(instant).toISOString();

export const connectionConfig = (connectionString: string, applicationName: string): pg.ClientConfig => ({
  connectionString,
  application_name: applicationName,
  types,
  keepAlive: true,
  keepAliveInitialDelayMillis: 10_000,
  connectionTimeoutMillis: 3_000,
  // A client that hangs is not waited for, and a lock that somebody holds is not either.
  options: `-c TimeZone=UTC -c lock_timeout=2s -c idle_in_transaction_session_timeout=5s ${BY_KEY}`,
});

/**
 * All that is asked of the record is found by a key. Plans are made when a session first asks, for a new plane on empty tables, and kept:
 * they would read whole tables for every check while thousands of machines join. A scan that is left has a price beyond which a server with LLVM
 * would compile it, for a table of one row: never for what takes so little.
 */
const BY_KEY = '-c enable_seqscan=off -c enable_hashjoin=off -c enable_mergejoin=off -c jit=off';

/** What a call was answered, and on which connection. */
export type CallAnswer<Row> = { readonly rows: Row[]; readonly connection: number };

/**
 * One connection that is replaced when it breaks. Calls queue on it in order, so what shares it is also ordered by it.
 *
 * A call that is not answered within `timeoutMs` gives the connection up: the next call gets a new one, and the caller is told that
 * nobody knows the outcome.
 */
export class ReplacedConnection {
  private client: Promise<pg.Client> | null = null;
  private last: Promise<unknown> = Promise.resolve();
  private closed = false;
  private made = 0;

  constructor(
    private readonly connectionString: string,
    private readonly applicationName: string,
    private readonly timeoutMs: number,
  ) {}

  /** How many connections there have been; another server may be behind each. */
  get connections(): number {
    return this.made;
  }

  /**
   * @param on the connection, by its number, that the call is for. (Default: null, any)
   * @throws pg.DatabaseError as the server said it, ConnectionLost, or ConnectionReplaced, which was not sent.
   */
  query<Row extends pg.QueryResultRow>(query: pg.QueryConfig, on: number | null = null): Promise<CallAnswer<Row>> {
    const answer = this.last.then(() => this.send<Row>(query, on));
    this.last = answer.catch(() => undefined);
    return answer;
  }

  private async send<Row extends pg.QueryResultRow>(
    query: pg.QueryConfig,
    on: number | null,
  ): Promise<CallAnswer<Row>> {
    const connecting = (this.client ??= this.connect());
    let client: pg.Client;
    try {
      client = await connecting;
    } catch (cause) {
      if (this.client === connecting) this.client = null;
      throw new ConnectionLost('before', cause);
    }
    const connection = this.made;
    if (on !== null && on !== connection) throw new ConnectionReplaced();
    try {
      return { rows: (await client.query<Row>(query)).rows, connection };
    } catch (error) {
      if (error instanceof pg.DatabaseError && !isFatal(error)) throw error;
      this.giveUp(connecting);
      throw new ConnectionLost('during', error);
    }
  }

  /** The server process behind the connection; for tests that end it. */
  async processId(): Promise<number> {
    const { rows } = await this.query<{ pid: number }>({ text: 'select pg_backend_pid() as pid' });
    return rows[0]?.pid ?? 0;
  }

  async close(): Promise<void> {
    this.closed = true;
    const client = await this.client?.catch(() => null);
    this.client = null;
    if (client) await endClient(client);
  }

  private async connect(): Promise<pg.Client> {
    if (this.closed) throw new Error('The connection is closed');
    this.made += 1;
    const client = new pg.Client({
      ...connectionConfig(this.connectionString, this.applicationName),
      query_timeout: this.timeoutMs,
    });
    const connecting = Promise.resolve(client);
    // An idle connection that breaks would otherwise end the process.
    client.on('error', () => {
      void this.client?.then(
        (current) => current === client && (this.client = null),
        () => undefined,
      );
    });
    try {
      await client.connect();
      // Known to 17 and later: ends what a client began and never finished, whatever it holds.
      await client.query(`select set_config(name, '10s', false) from pg_settings where name = 'transaction_timeout'`);
    } catch (error) {
      await client.end().catch(() => undefined);
      throw error;
    }
    return connecting;
  }

  private giveUp(connecting: Promise<pg.Client>): void {
    if (this.client === connecting) this.client = null;
    void connecting.then(cut, () => undefined);
  }
}

/** Ends a connection in order, or, where the server does not answer within a second, at once. */
export const endClient = async (client: pg.Client): Promise<void> => {
  const timer = setTimeout(() => cut(client), 1_000);
  await client.end().catch(() => undefined);
  clearTimeout(timer);
};

const cut = (client: pg.Client): void =>
  (client as unknown as { connection: { stream: { destroy(): void } } }).connection.stream.destroy();

/** There was no connection (`before` the call was sent), or it broke (`during`: the outcome is not known). */
export class ConnectionLost extends Error {
  override readonly name = 'ConnectionLost';
  constructor(
    readonly when: 'before' | 'during',
    cause: unknown,
  ) {
    super(
      `The connection to Postgres was lost ${when} the call: ${cause instanceof Error ? cause.message : String(cause)}`,
      { cause },
    );
  }
}

/** The call was for a connection that is no more; it was not sent on the new one. */
export class ConnectionReplaced extends Error {
  override readonly name = 'ConnectionReplaced';
  constructor() {
    super('The connection to Postgres is a new one');
  }
}

// The server ends the session with these: shut down, crashed, administrator.
const isFatal = (error: pg.DatabaseError): boolean =>
  error.severity === 'FATAL' || error.severity === 'PANIC' || error.code?.startsWith('57P') === true;

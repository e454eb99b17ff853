import { createHash } from 'node:crypto';
import pg from 'pg';

/** The namespace of these locks; those of the record are in 7723406. */
const NAMESPACE = 7_723_407;

/** How long the two ends of a session are patient with each other, in milliseconds. */
export type Patience = {
  /** The server ends a session that asked nothing for so long. */
  readonly idle: number;
  /** An answer that takes longer does not count any more. */
  readonly answer: number;
};

/** One connection, and the lock that lives and dies with it. */
export class LockSession {
  readonly #lost = new AbortController();

  private constructor(private readonly client: pg.Client) {}

  /** Connects. @throws what the database or the network says */
  static async open(connectionString: string, applicationName: string, patience: Patience): Promise<LockSession> {
    const client = new pg.Client({
      connectionString,
      application_name: applicationName,
      keepAlive: true,
      connectionTimeoutMillis: patience.answer,
      query_timeout: patience.answer,
      // A process that was stopped keeps its connection, and would keep the lock for ever.
      options: `-c idle_session_timeout=${patience.idle}`,
    });
    const session = new LockSession(client);
    client.on('error', (error) => session.lose(error));
    client.on('end', () => session.lose(new Error('The connection was closed')));
    try {
      await client.connect();
    } catch (error) {
      await session.close();
      throw error;
    }
    return session;
  }

  /** Aborted once the session is over, and the lock with it; the reason is an error. */
  get lost(): AbortSignal {
    return this.#lost.signal;
  }

  /** Takes the lock of that name unless another session has it. @throws what the database or the network says */
  async tryLock(name: string): Promise<boolean> {
    const key = createHash('sha256').update(name).digest().readInt32BE(0);
    const { rows } = await this.client.query<{ held: boolean }>('select pg_try_advisory_lock($1, $2) as held', [
      NAMESPACE,
      key,
    ]);
    return rows[0]?.held === true;
  }

  /** Asks whether the server is still there; where it does not answer in time, the session is over. */
  async ping(): Promise<void> {
    await this.client.query('select 1').catch((error: unknown) => this.lose(error));
  }

  lose(reason: unknown): void {
    this.#lost.abort(reason instanceof Error ? reason : new Error(String(reason)));
  }

  /** Ends the session, which gives the lock back; a server that does not answer is not waited for. */
  async close(): Promise<void> {
    const { stream } = (this.client as unknown as { connection: { stream: { destroy(): void } } }).connection;
    const impatience = setTimeout(() => stream.destroy(), 1_000);
    await this.client.end().catch(() => undefined);
    clearTimeout(impatience);
  }
}

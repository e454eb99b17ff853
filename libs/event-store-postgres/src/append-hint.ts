import pg from 'pg';
import { connectionConfig, endClient } from './connection.js';
import { CHANNEL, NOTIFY } from './sql.js';

const SPACING_MS = 20;
const RECONNECT_MS = 1_000;

/**
 * Tells readers that something was appended. Sent after the writer's answer and from another connection, at most every 20 ms: a
 * notification inside an append would serialise the commits. It may be lost; readers also look on their own.
 */
export class AppendHint {
  private readonly listeners = new Set<() => void>();
  private listening: pg.Client | null = null;
  private reconnect: NodeJS.Timeout | null = null;
  private timer: NodeJS.Timeout | null = null;
  private latest: bigint | null = null;
  private sending: Promise<unknown> = Promise.resolve();
  private closed = false;

  constructor(
    private readonly connectionString: string,
    private readonly applicationName: string,
    private readonly pool: pg.Pool,
  ) {}

  announce(batch: bigint): void {
    this.latest = batch;
    if (this.closed || this.timer) return;
    this.timer = setTimeout(() => {
      this.timer = null;
      if (this.closed) return;
      this.sending = this.pool.query(NOTIFY, [String(this.latest)]).catch(() => undefined);
    }, SPACING_MS);
    this.timer.unref();
  }

  listen(listener: () => void): () => void {
    this.listeners.add(listener);
    if (!this.listening && !this.reconnect) void this.connect();
    return () => this.listeners.delete(listener);
  }

  async close(): Promise<void> {
    this.closed = true;
    if (this.timer) clearTimeout(this.timer);
    if (this.reconnect) clearTimeout(this.reconnect);
    this.listeners.clear();
    await this.sending;
    if (this.listening) await endClient(this.listening);
    this.listening = null;
  }

  private async connect(): Promise<void> {
    const client = new pg.Client(connectionConfig(this.connectionString, `${this.applicationName} listener`));
    this.listening = client;
    client.on('notification', () => {
      for (const listener of this.listeners) listener();
    });
    client.on('error', () => this.lost(client));
    client.on('end', () => this.lost(client));
    try {
      await client.connect();
      await client.query(`listen ${CHANNEL}`);
    } catch {
      this.lost(client);
    }
  }

  private lost(client: pg.Client): void {
    if (this.listening !== client) return;
    this.listening = null;
    void client.end().catch(() => undefined);
    if (this.closed) return;
    this.reconnect = setTimeout(() => {
      this.reconnect = null;
      if (!this.closed) void this.connect();
    }, RECONNECT_MS);
    this.reconnect.unref();
  }
}

import { randomBytes } from 'node:crypto';
import { sql } from 'kysely';
import type { WebhookKey } from './key.js';
import { seal, unseal } from './seal.js';
import type { WebhookDatabase } from './tables.js';

/** There is no key to seal or open anything with; the message says what to do. */
export class WebhookKeyMissing extends Error {
  override readonly name = 'WebhookKeyMissing';
}

/** Where to send, and what to sign with. */
export type Opened = {
  readonly url: string;
  /** Newest first; two while one is rolled. Each `whsec_` and the base64 of 32 bytes. */
  readonly secrets: readonly string[];
};

/** Secrets that are valid beside the one that counts. */
const MOST_REPLACED = 3;

/**
 * The addresses and secrets of endpoints, sealed in the database with a key that is not in it. Each call is part of the transaction that it
 * is given.
 */
export class WebhookSecrets {
  constructor(private readonly webhookKey: WebhookKey) {}

  /** Why nothing can be sealed or opened, and what to do; null when all is well. */
  get problem(): string | null {
    return this.webhookKey.problem;
  }

  /**
   * Seals the address of a new endpoint and makes its secret. What was sealed for it before goes.
   *
   * @returns the secret, which is shown once
   * @throws WebhookKeyMissing
   */
  async create(transaction: WebhookDatabase, endpoint: string, url: string): Promise<string> {
    const key = this.#key();
    const secret = newSecret();
    await this.forget(transaction, endpoint);
    await transaction
      .insertInto('webhook_sealed')
      .values([
        { endpoint, what: 'url', sealed: seal(key, placeOf(endpoint, 'url'), url) },
        { endpoint, what: 'secret', sealed: seal(key, placeOf(endpoint, 'secret'), secret) },
      ])
      .execute();
    return secret;
  }

  /**
   * Makes a new secret. For 24 hours the one before signs too, so that the receiver can change over.
   *
   * @returns the secret, which is shown once
   * @throws WebhookKeyMissing
   */
  async roll(transaction: WebhookDatabase, endpoint: string): Promise<string> {
    const key = this.#key();
    const secret = newSecret();
    // An answer may be lost, and whoever asks again has the one that was in use before: so a few go on signing, and not however many.
    await sql`
      delete from webhook_sealed where endpoint = ${endpoint}::uuid and valid_until is not null and made_at not in (
        select made_at from webhook_sealed
        where endpoint = ${endpoint}::uuid and what = 'secret' and valid_until > clock_timestamp()
        order by made_at desc limit ${MOST_REPLACED - 1})`.execute(transaction);
    await transaction
      .updateTable('webhook_sealed')
      .set({ valid_until: sql<Date>`clock_timestamp() + interval '24 hours'` })
      .where('endpoint', '=', endpoint)
      .where('what', '=', 'secret')
      .where('valid_until', 'is', null)
      .execute();
    await transaction
      .insertInto('webhook_sealed')
      .values({ endpoint, what: 'secret', sealed: seal(key, placeOf(endpoint, 'secret'), secret) })
      .execute();
    return secret;
  }

  /**
   * Opens what is sealed for an endpoint; null where there is nothing.
   *
   * @throws WebhookKeyMissing; NotUnsealed when it was sealed with another key
   */
  async open(database: WebhookDatabase, endpoint: string): Promise<Opened | null> {
    const key = this.#key();
    const rows = await database
      .selectFrom('webhook_sealed')
      .select(['what', 'sealed'])
      .where('endpoint', '=', endpoint)
      .where(({ or, eb }) => or([eb('valid_until', 'is', null), eb('valid_until', '>', sql<Date>`clock_timestamp()`)]))
      .orderBy('made_at', 'desc')
      .execute();
    const opened = rows.map(({ what, sealed }) => ({ what, text: unseal(key, placeOf(endpoint, what), sealed) }));
    const url = opened.find(({ what }) => what === 'url')?.text;
    return url === undefined
      ? null
      : { url, secrets: opened.filter(({ what }) => what === 'secret').map(({ text }) => text) };
  }

  /** Removes what is sealed for an endpoint. */
  async forget(transaction: WebhookDatabase, endpoint: string): Promise<void> {
    await transaction.deleteFrom('webhook_sealed').where('endpoint', '=', endpoint).execute();
  }

  #key(): Buffer {
    if (this.webhookKey.key === null) throw new WebhookKeyMissing(this.webhookKey.problem);
    return this.webhookKey.key;
  }
}

// A row that is copied to another endpoint does not open there.
const placeOf = (endpoint: string, what: 'url' | 'secret'): string => `${endpoint}/${what}`;

const newSecret = (): string => `whsec_${randomBytes(32).toString('base64')}`;

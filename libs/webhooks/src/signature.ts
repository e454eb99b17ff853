import { createHmac } from 'node:crypto';

/** What is signed: the id that a notice keeps, the moment of this attempt, and the bytes of the body. */
export type Signed = {
  readonly id: string;
  /** Seconds since 1970. */
  readonly timestamp: number;
  readonly body: string;
};

/**
 * The headers of Standard Webhooks, with one `v1` signature (HMAC-SHA256) per secret.
 *
 * @param secrets `whsec_` and base64
 */
export const signatureHeaders = (
  { id, timestamp, body }: Signed,
  secrets: readonly string[],
): Readonly<Record<'webhook-id' | 'webhook-timestamp' | 'webhook-signature', string>> => ({
  'webhook-id': id,
  'webhook-timestamp': String(timestamp),
  'webhook-signature': secrets
    .map((secret) => Buffer.from(secret.slice('whsec_'.length), 'base64'))
    .map((key) => `v1,${createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64')}`)
    .join(' '),
});

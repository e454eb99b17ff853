import { readFileSync } from 'node:fs';
import type { EnvironmentReader } from '@rollcall/settings';
import { parseAllowedTarget, type AllowedTarget } from './address.js';

/** What webhooks need to know. */
export type WebhookSettings = {
  /** Of the key that seals addresses and secrets; null: none, and deliveries wait. */
  readonly keyFile: string | null;
  /** Targets that are allowed although they are private, or at a port that is named, also unencrypted. */
  readonly allowed: readonly AllowedTarget[];
  /** An authority that is believed beside those of the system, PEM; null: none. */
  readonly ca: string | null;
};

/**
 * `ROLLCALL_WEBHOOK_KEY_FILE` (Default: none, and deliveries wait), `ROLLCALL_WEBHOOK_ALLOW`, addresses and networks between commas, each with
 * a port if it is another than 443 and 8443 (Default: none), and `ROLLCALL_WEBHOOK_CA_FILE` (Default: only the authorities of the system).
 */
export const readWebhookSettings = (settings: EnvironmentReader): WebhookSettings => ({
  keyFile: settings.optionalText('ROLLCALL_WEBHOOK_KEY_FILE'),
  allowed: settings.list('ROLLCALL_WEBHOOK_ALLOW', []).flatMap((text) => {
    const allowed = parseAllowedTarget(text);
    if (allowed === null)
      settings.problem(
        `ROLLCALL_WEBHOOK_ALLOW: "${text}" is not an address or network such as 10.1.0.0/16 or 10.1.2.3:9000`,
      );
    return allowed ?? [];
  }),
  ca: readCa(settings),
});

const readCa = (settings: EnvironmentReader): string | null => {
  const path = settings.optionalText('ROLLCALL_WEBHOOK_CA_FILE');
  if (path === null) return null;
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    settings.problem(`ROLLCALL_WEBHOOK_CA_FILE: ${error instanceof Error ? error.message : String(error)}`);
    return null;
  }
};

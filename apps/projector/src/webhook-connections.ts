import type { OnApplicationShutdown } from '@nestjs/common';
import type { Logger } from '@rollcall/nest-platform';
import { openWebhooks, readWebhookKey, WebhookQueue, WebhookSecrets, type WebhookDatabase } from '@rollcall/webhooks';
import type { ProjectorConfig } from './config.js';

/** Owns what webhooks need of the database. It ends after the loops, which need it to end in order. */
export class WebhookConnections implements OnApplicationShutdown {
  constructor(
    readonly database: WebhookDatabase,
    readonly queue: WebhookQueue,
    readonly secrets: WebhookSecrets,
  ) {}

  async onApplicationShutdown(): Promise<void> {
    await this.queue.close();
    await this.database.destroy();
  }
}

/**
 * Opens them. Without a key nothing fails: deliveries wait.
 *
 * @throws JobQueueMissing, or Error when the database is away
 */
export const openWebhookConnections = async (config: ProjectorConfig, logger: Logger): Promise<WebhookConnections> => {
  const connection = { connectionString: config.database.url, applicationName: 'rollcall webhooks' };
  const secrets = new WebhookSecrets(await readWebhookKey(config.webhooks.keyFile));
  const queue = await WebhookQueue.open({
    ...connection,
    looksAfter: true,
    onTrouble: (error) => logger.warn({ err: error }, 'trouble with the job queue of the webhooks'),
  });
  const database = openWebhooks({
    ...connection,
    connections: 6,
    onIdleError: (error) => logger.warn({ err: error }, 'a connection of the webhooks broke'),
  });
  return new WebhookConnections(database, queue, secrets);
};

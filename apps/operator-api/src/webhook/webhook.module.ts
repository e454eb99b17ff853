import { Module } from '@nestjs/common';
import { AddWebhookController } from './add-webhook/add-webhook.controller.js';
import { AddWebhookHandler } from './add-webhook/add-webhook.handler.js';
import { ChangeWebhookHandler } from './change-webhook/change-webhook.handler.js';
import { ListDeliveriesController } from './list-deliveries/list-deliveries.controller.js';
import { ListWebhooksController } from './list-webhooks/list-webhooks.controller.js';
import { OwnedWebhooks } from './owned-webhooks.js';
import { PauseWebhookController } from './pause-webhook/pause-webhook.controller.js';
import { RemoveWebhookController } from './remove-webhook/remove-webhook.controller.js';
import { ReplayDeliveriesController } from './replay-deliveries/replay-deliveries.controller.js';
import { ReplayDeliveriesHandler } from './replay-deliveries/replay-deliveries.handler.js';
import { ResumeWebhookController } from './resume-webhook/resume-webhook.controller.js';
import { RollWebhookSecretController } from './roll-webhook-secret/roll-webhook-secret.controller.js';
import { RollWebhookSecretHandler } from './roll-webhook-secret/roll-webhook-secret.handler.js';
import { TestWebhookController } from './test-webhook/test-webhook.controller.js';

/** People let programs be told what happens to their machines. */
@Module({
  controllers: [
    AddWebhookController,
    ListWebhooksController,
    RemoveWebhookController,
    TestWebhookController,
    RollWebhookSecretController,
    PauseWebhookController,
    ResumeWebhookController,
    ListDeliveriesController,
    ReplayDeliveriesController,
  ],
  providers: [
    OwnedWebhooks,
    AddWebhookHandler,
    ChangeWebhookHandler,
    ReplayDeliveriesHandler,
    RollWebhookSecretHandler,
  ],
})
export class WebhookModule {}

import type { Acting } from '../../access/acting.js';
import type { OwnedWebhooks } from '../owned-webhooks.js';
import type { WebhookAccess } from '../webhook-access.js';

/**
 * A secret that nobody has seen, sealed and then recorded. Under a command id of its own, it is one that whoever repeats a request is
 * answered with: the secret before may have been lost with the answer, is shown to nobody again, and is valid for 24 hours more.
 *
 * @throws Refusal `webhook-not-found`, `webhook-key-missing`
 */
export const freshSecret = async (
  webhooks: OwnedWebhooks,
  access: WebhookAccess,
  id: string,
  by: Acting,
  commandId?: string,
): Promise<string> => {
  await webhooks.require(id, by.owner);
  const secret = await access.roll(id);
  const { repeated } = await webhooks.decide(id, by, { type: 'RollWebhookSecret' }, commandId);
  // That there is one more is a fact, too.
  if (repeated) await webhooks.decide(id, by, { type: 'RollWebhookSecret' });
  return secret;
};

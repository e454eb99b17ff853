import type { WebhookDeliveryList, WebhookDeliveryView, WebhookList, WebhookView } from '@rollcall/wire';
import { noteAge, shortIds } from './machine-view.js';
import type { Cell, Output, Tone } from './output.js';
import { clockTime, relativeTime } from './relative-time.js';

/** The webhooks as a table, and how each gets on with its receiver. */
export const showWebhooks = (output: Output, { webhooks, problem, ...age }: WebhookList): void => {
  if (webhooks.length === 0) output.line('Nobody is told. `rollcall webhooks add URL --events …` changes that.');
  else {
    const short = shortIds(webhooks.map(({ id }) => id));
    output.table(
      ['ID', 'HOST', 'STATE', 'WAITING', 'EVENTS', 'ADDED'],
      webhooks.map((webhook) => [
        short.get(webhook.id) ?? webhook.id,
        webhook.host,
        stateOf(webhook, age.asOf),
        String(webhook.waiting),
        `${webhook.events.join(', ')}${webhook.promisedOnly ? ' (silences: only against a promise)' : ''}`,
        relativeTime(webhook.createdAt, age.asOf),
      ]),
    );
  }
  if (problem !== null) output.note(problem);
  noteAge(output, age);
};

const stateOf = ({ paused, failures, failingSince }: WebhookView, asOf: string | null): Cell => {
  switch (paused?.reason) {
    case 'person':
      return { text: `paused by a person ${relativeTime(paused.since, asOf)}`, tone: 'warning' };
    case 'failing':
      return { text: `paused: it failed ${failures} times in a row; it is tried now and then`, tone: 'bad' };
    case 'gone':
      return { text: `paused: it answered that it is gone ${relativeTime(paused.since, asOf)}`, tone: 'bad' };
    default:
      return failures === 0
        ? { text: 'sent to', tone: 'good' }
        : { text: `failing since ${failingSince === null ? 'now' : clockTime(failingSince)}`, tone: 'warning' };
  }
};

/** Deliveries as a table, the newest first. */
export const showDeliveries = (output: Output, { deliveries, next }: WebhookDeliveryList): void => {
  if (deliveries.length === 0) output.line('No such delivery.');
  else
    output.table(
      ['EVENT', 'TYPE', 'MACHINE', 'HAPPENED', 'STATE', 'ATTEMPTS', 'LAST ANSWER', 'NEXT ATTEMPT'],
      deliveries.map((delivery) => [
        delivery.id,
        delivery.type,
        delivery.machine ?? '',
        clockTime(delivery.occurredAt),
        { text: delivery.state, tone: TONES[delivery.state] },
        String(delivery.attempts),
        answerOf(delivery),
        delivery.nextAttemptAt === null ? '' : clockTime(delivery.nextAttemptAt),
      ]),
    );
  if (next !== null) output.note('Older ones are not shown; --limit shows more.');
};

const TONES: Readonly<Record<WebhookDeliveryView['state'], Tone>> = {
  waiting: 'warning',
  delivered: 'good',
  failed: 'bad',
};

const answerOf = ({ lastStatus, lastOutcome }: WebhookDeliveryView): string =>
  [lastStatus, lastOutcome].filter((part) => part !== null).join(' ');

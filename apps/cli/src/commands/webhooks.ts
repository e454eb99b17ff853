import { randomUUID } from 'node:crypto';
import type {
  AddWebhookAnswer,
  AddWebhookRequest,
  ReplayWebhookRequest,
  RollWebhookSecretAnswer,
  WebhookAnswer,
  WebhookDeliveryList,
  WebhookDeliveryView,
  WebhookEvent,
  WebhookList,
} from '@rollcall/wire';
import type { Context } from '../context.js';
import { EXIT, Failure } from '../failure.js';
import { showDeliveries, showWebhooks } from '../output/webhook-view.js';
import type { Plane } from '../plane/plane.js';
import { askYes } from '../session/ask.js';

/** How `webhooks add` was called. */
export type NewWebhook = { readonly events: readonly WebhookEvent[]; readonly promisedOnly?: boolean };

/** `rollcall webhooks add URL --events A,B [--promised-only]`: the secret alone goes to stdout, once (U5). */
export const addWebhook = async (url: string, wanted: NewWebhook, { output, plane }: Context): Promise<void> => {
  const { events, promisedOnly = false } = wanted;
  const request: AddWebhookRequest = { commandId: randomUUID(), url, events, promisedOnly };
  const added = await (await plane()).write<AddWebhookAnswer>('POST', '/v1/webhooks', request);
  if (output.asJson) return output.json(added);
  const { id, host } = added.webhook;
  output.note(`${host} is told from now on; the webhook is ${id}.`);
  output.note('This is the secret that its receiver verifies with. It is shown once.');
  output.line(added.secret);
};

/** `rollcall webhooks [list]` */
export const listWebhooks = async ({ output, plane, surroundings }: Context): Promise<void> => {
  const list = await listed(await plane(), surroundings.signal);
  if (output.asJson) output.json(list);
  else showWebhooks(output, list);
};

/** `rollcall webhooks roll-secret WEBHOOK`: the new secret alone goes to stdout, once. */
export const rollSecret = async (webhook: string, { output, plane, surroundings }: Context): Promise<void> => {
  const at = await plane();
  const path = `${pathOf(await idOf(webhook, at, surroundings.signal))}/secret`;
  const rolled = await at.write<RollWebhookSecretAnswer>('POST', path, { commandId: randomUUID() });
  if (output.asJson) return output.json(rolled);
  output.note('For 24 hours the secret before is valid, too. This one is shown once.');
  output.line(rolled.secret);
};

/** What is asked of a webhook, and told when it is done. */
const VERBS = {
  test: 'gets a notice of the type webhook.test; see `rollcall webhooks deliveries`',
  pause: 'is sent nothing until it is resumed; what happens meanwhile waits',
  resume: 'is sent to again',
} as const;

/** `rollcall webhooks test|pause|resume WEBHOOK` */
export const tellWebhook =
  (verb: keyof typeof VERBS) =>
  async (webhook: string, { output, plane, surroundings }: Context): Promise<void> => {
    const at = await plane();
    const id = await idOf(webhook, at, surroundings.signal);
    const answer = await at.write<WebhookAnswer>('POST', `${pathOf(id)}/${verb}`, { commandId: randomUUID() });
    if (output.asJson) return output.json(answer);
    if (verb === 'test' && (await isPaused(answer, at, surroundings.signal)))
      output.line(
        `Webhook ${id} is paused, so its notice of the type webhook.test waits; \`rollcall webhooks resume ${id}\` sends it.`,
      );
    else output.line(`Webhook ${id} ${VERBS[verb]}.`);
  };

/** By a person, which the record knows at once, or for its failures or an answer of 410, which only the list shows. */
const isPaused = async ({ webhook }: WebhookAnswer, plane: Plane, signal: AbortSignal): Promise<boolean> =>
  webhook.paused ||
  (await listed(plane, signal)).webhooks.some(({ id, paused }) => id === webhook.id && paused !== null);

/** `rollcall webhooks remove WEBHOOK [--yes]`: asks first; without a terminal it wants `--yes`. */
export const removeWebhook = async (
  webhook: string,
  options: { readonly yes?: boolean },
  { output, plane, surroundings }: Context,
): Promise<void> => {
  if (!options.yes && !surroundings.stdin.isTTY)
    throw new Failure('Removing a webhook cannot be undone: confirm it with --yes.', EXIT.usage);
  const at = await plane();
  const id = await idOf(webhook, at, surroundings.signal);
  if (!options.yes && !(await askYes(`Type "yes" to remove the webhook ${id}: `, surroundings)))
    throw new Failure('Nothing was removed.');
  const answer = await at.write<WebhookAnswer>('DELETE', pathOf(id), { commandId: randomUUID() });
  if (output.asJson) output.json(answer);
  else output.line(`Webhook ${id} is removed: what waited is not sent, and its secrets are forgotten.`);
};

/** Which deliveries are shown. */
export type DeliveryFilter = { readonly state?: string; readonly type?: string; readonly limit: number };

/** `rollcall webhooks deliveries WEBHOOK [--state S] [--type T] [--limit N]`: the newest first. */
export const listDeliveries = async (
  webhook: string,
  { state, type, limit }: DeliveryFilter,
  { output, plane, surroundings }: Context,
): Promise<void> => {
  const at = await plane();
  const id = await idOf(webhook, at, surroundings.signal);
  const deliveries: WebhookDeliveryView[] = [];
  let next: string | null = null;
  do {
    const query = new URLSearchParams({ limit: String(Math.min(PAGE, limit - deliveries.length)) });
    if (state !== undefined) query.set('state', state);
    if (type !== undefined) query.set('type', type);
    if (next !== null) query.set('after', next);
    const page: WebhookDeliveryList = await at.read(
      `${pathOf(id)}/deliveries?${query.toString()}`,
      surroundings.signal,
    );
    deliveries.push(...page.deliveries);
    ({ next } = page);
  } while (next !== null && deliveries.length < limit);
  if (output.asJson) output.json({ deliveries, next } satisfies WebhookDeliveryList);
  else showDeliveries(output, { deliveries, next });
};

/** What `webhooks replay` is to send again. */
export type Replay = {
  readonly event?: string;
  readonly from?: string;
  readonly to?: string;
  readonly types?: readonly string[];
};

/** `rollcall webhooks replay WEBHOOK --event ID | --from TIME --to TIME [--types A,B]`: under the ids that it had. */
export const replayDeliveries = async (
  webhook: string,
  { event, from, to, types }: Replay,
  { output, plane, surroundings }: Context,
): Promise<void> => {
  const isTime = from !== undefined || to !== undefined || types !== undefined;
  if (event !== undefined && isTime) throw new Failure('--event goes without --from, --to and --types.', EXIT.usage);
  if (event === undefined && (from === undefined || to === undefined))
    throw new Failure('Say what to send again: --event ID, or both --from TIME and --to TIME.', EXIT.usage);
  const at = await plane();
  const id = await idOf(webhook, at, surroundings.signal);
  const request: ReplayWebhookRequest = {
    commandId: randomUUID(),
    ...(event === undefined ? { from: from!, to: to!, ...(types === undefined ? {} : { types }) } : { eventId: event }),
  };
  const answer = await at.write<WebhookAnswer>('POST', `${pathOf(id)}/replay`, request);
  if (output.asJson) output.json(answer);
  else output.line('It is sent again, under the ids it had; see `rollcall webhooks deliveries`.');
};

const PAGE = 500;
const WHOLE_ID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

const pathOf = (id: string): string => `/v1/webhooks/${id}`;

const listed = (plane: Plane, signal: AbortSignal): Promise<WebhookList> => plane.read('/v1/webhooks', signal);

/** A webhook by its id or the beginning of it. */
const idOf = async (webhook: string, plane: Plane, signal: AbortSignal): Promise<string> => {
  if (WHOLE_ID.test(webhook)) return webhook;
  const found = (await listed(plane, signal)).webhooks.filter(({ id }) => id.startsWith(webhook));
  const [one, ...others] = found;
  if (!one) throw new Failure('There is no such webhook.', EXIT.notFound);
  if (others.length > 0)
    throw new Failure(`Several webhooks match; name one by more of its id: ${found.map(({ id }) => id).join(', ')}.`);
  return one.id;
};

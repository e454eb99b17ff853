import { Refusal, timestampOf } from '@rollcall/decider';
import type { ReplayWish } from '@rollcall/webhook-endpoint';
import type { ReplayWebhookRequest } from '@rollcall/wire';

const refused = (field: string, message: string): Refusal =>
  new Refusal('invalid-body', { errors: [{ field, message }] });

/**
 * What is to be sent again: one delivery, or those of a time, and not both.
 *
 * @throws Refusal `invalid-body`, naming the field
 */
export const replayWish = ({ eventId, from, to, types }: Omit<ReplayWebhookRequest, 'commandId'>): ReplayWish => {
  if (eventId !== undefined) {
    if (from !== undefined || to !== undefined || types !== undefined)
      throw refused('eventId', 'goes without from, to and types');
    return { eventId };
  }
  if (from === undefined || to === undefined)
    throw refused(from === undefined ? 'from' : 'to', 'is needed, or an eventId in place of a time');
  if (Date.parse(from) >= Date.parse(to)) throw refused('to', 'must be after from');
  return { from: timestampOf(Date.parse(from)), to: timestampOf(Date.parse(to)), types: types ?? [] };
};

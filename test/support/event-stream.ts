import { PinnedClient } from '@rollcall/pinned-https';
import { createParser, type EventSourceMessage } from 'eventsource-parser';

/** An event as a client sees it. */
export type SeenEvent = {
  readonly id: string | undefined;
  readonly event: string;
  readonly data: Record<string, unknown>;
};

/** Where to, and as whom. */
export type StreamAsked = {
  readonly origin: string;
  readonly pins: readonly string[];
  readonly path: string;
  readonly bearer: string;
  readonly lastEventId?: string | undefined;
  readonly signal?: AbortSignal;
};

/** Server-sent events as they come, until the server ends the stream or the loop is left. @throws Error for any other answer than 200 */
export async function* eventsOf({
  origin,
  pins,
  path,
  bearer,
  lastEventId,
  signal,
}: StreamAsked): AsyncGenerator<SeenEvent> {
  const client = new PinnedClient({ origin, pins });
  try {
    const { status, text } = await client.stream({
      method: 'GET',
      path,
      headers: {
        authorization: `Bearer ${bearer}`,
        ...(lastEventId === undefined ? {} : { 'last-event-id': lastEventId }),
      },
      ...(signal ? { signal } : {}),
    });
    if (status !== 200) throw new Error(`answered ${status}`);
    const parsed: EventSourceMessage[] = [];
    const parser = createParser({ onEvent: (event) => parsed.push(event) });
    for await (const piece of text) {
      parser.feed(piece);
      for (const { id, event = 'message', data } of parsed.splice(0))
        yield { id, event, data: JSON.parse(data) as Record<string, unknown> };
    }
  } finally {
    client.abandonConnections();
  }
}

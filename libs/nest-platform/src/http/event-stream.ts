import { SystemClock, type Clock } from '@rollcall/lifetimes';
import type { EndOfStream, StreamEnd } from '@rollcall/wire';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Readable } from 'node:stream';

declare module 'fastify' {
  interface FastifyInstance {
    /** Aborted when this instance begins to end: what would go on for ever ends now. */
    stopping: AbortSignal;
    /** Is told why a stream could not go on. */
    streamFailed(error: unknown, requestId: string): void;
  }
}

/** The media type of server-sent events. */
export const EVENT_STREAM_MEDIA_TYPE = 'text/event-stream';

/** A server-sent event (WHATWG HTML, 9.2). */
export type ServerSentEvent = {
  /** What a client that comes back says as `Last-Event-ID`. Left out: what it has stays. */
  readonly id?: string;
  readonly event: string;
  /** Sent as JSON. */
  readonly data: object;
  /** A line that nobody reads; it shows proxies that the connection lives. */
  readonly comment?: string;
};

/** An event as it goes over the line. JSON has no line break of its own, so its data is one line. */
export const eventText = ({ id, event, data, comment }: ServerSentEvent): string =>
  [
    ...(comment === undefined ? [] : [`: ${comment}`]),
    ...(id === undefined ? [] : [`id: ${id}`]),
    `event: ${event}`,
    `data: ${JSON.stringify(data)}`,
    '',
    '',
  ].join('\n');

/** The last event of a stream; without an id, so that the client goes on where it was. */
export const endEvent = (reason: EndOfStream): ServerSentEvent => ({
  event: 'end',
  data: { reason } satisfies StreamEnd,
});

// Longer than a hiccup of a network, shorter than what a connection is given on which nothing moves at all.
const TOO_SLOW_MS = 30_000;
/** What a client that reads needs to take the last event. */
const LAST_WORD_MS = 1_000;

/**
 * Answers with server-sent events for as long as the source has any. Nothing is made before the client has taken what there is, so a stream
 * holds one event and what the sockets hold, however slow the client. Who takes half a minute for an event is told so and ended.
 *
 * @param source makes the events; its signal is aborted when the client is gone or this instance begins to end, and then it returns soon. What
 *   it throws is logged and ends the stream as `unavailable`.
 */
export const sendEvents = (
  request: FastifyRequest,
  reply: FastifyReply,
  source: (ended: AbortSignal) => AsyncIterable<ServerSentEvent>,
  clock: Clock = new SystemClock(),
): FastifyReply => {
  const { stopping } = request.server;
  const failed = (error: unknown): void => request.server.streamFailed(error, request.id);
  const gone = new AbortController();
  let lastWord: NodeJS.Timeout | null = null;
  const hurry = (): void => {
    // A client that does not read would hold up the end of this instance.
    lastWord = setTimeout(() => reply.raw.destroy(), LAST_WORD_MS);
  };
  reply.raw.once('close', () => {
    if (lastWord) clearTimeout(lastWord);
    stopping.removeEventListener('abort', hurry);
    gone.abort();
  });
  if (stopping.aborted) hurry();
  else stopping.addEventListener('abort', hurry);
  const events = paced(source(AbortSignal.any([gone.signal, stopping])), { stopping, clock, failed });
  return reply
    .headers({ 'content-type': EVENT_STREAM_MEDIA_TYPE, 'x-accel-buffering': 'no' })
    .send(Readable.from(events, { highWaterMark: 1 }));
};

async function* paced(
  events: AsyncIterable<ServerSentEvent>,
  { stopping, clock, failed }: { stopping: AbortSignal; clock: Clock; failed: (error: unknown) => void },
): AsyncGenerator<string, void, undefined> {
  try {
    for await (const event of events) {
      const offered = clock.monotonic();
      yield eventText(event);
      if (clock.monotonic() - offered > TOO_SLOW_MS) {
        yield eventText(endEvent('too-slow'));
        return;
      }
    }
    if (stopping.aborted) yield eventText(endEvent('stopping'));
  } catch (error) {
    failed(error);
    yield eventText(endEvent('unavailable'));
  }
}

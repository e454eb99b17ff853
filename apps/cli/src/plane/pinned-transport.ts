import { PinnedClient, TransportError, type HttpAnswer, type HttpStream } from '@rollcall/pinned-https';
import { EXIT, Failure } from '../failure.js';
import type { StreamTransport, Transport } from './transport.js';

const ANSWER_LIMIT = 16 * 1_024 * 1_024;
const REFUSAL_LIMIT = 64 * 1_024;

/** What helps with a plane that has no public certificate. */
const UNPINNED = ' A plane with a CA of its own is named together with its pin, as in https://host:port/#pin.';

type Place = { readonly address: string; readonly pins: readonly string[] };

/** HTTPS to the plane of a sign-in link. Nothing is sent before the server has proven the pinned key, or a public certificate. */
export const pinnedTransport = (place: Place): Transport => {
  const client = new PinnedClient({ origin: place.address, pins: place.pins });
  return async ({ method, path, session, body, timeoutMs, signal }) => {
    const deadline = AbortSignal.timeout(timeoutMs);
    try {
      const answer = await client.request({
        method,
        path,
        headers: {
          accept: 'application/json',
          ...(session === null ? {} : { authorization: `Bearer ${session}` }),
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
        signal: signal ? AbortSignal.any([signal, deadline]) : deadline,
        answerLimit: ANSWER_LIMIT,
      });
      const retryAfter = retryAfterOf(answer);
      return { status: answer.status, body: parse(answer.body), ...(retryAfter === undefined ? {} : { retryAfter }) };
    } catch (cause) {
      throw failureOf(cause, { place, deadline, timeoutMs });
    }
  };
};

/** The same for an answer without an end. Each stream has a connection of its own. */
export const pinnedStream = (place: Place): StreamTransport => {
  return async ({ path, session, lastEventId, timeoutMs, signal }) => {
    const client = new PinnedClient({ origin: place.address, pins: place.pins });
    const head = new AbortController();
    const deadline = head.signal;
    const timer = setTimeout(() => head.abort(), timeoutMs);
    try {
      const answer = await client.stream({
        method: 'GET',
        path,
        headers: {
          accept: 'text/event-stream',
          ...(session === null ? {} : { authorization: `Bearer ${session}` }),
          ...(lastEventId === null ? {} : { 'last-event-id': lastEventId }),
        },
        signal: AbortSignal.any([signal, deadline]),
      });
      if (answer.status === 200 && answer.mediaType === 'text/event-stream') return { status: 200, text: answer.text };
      let body = '';
      for await (const piece of answer.text) if ((body += piece).length > REFUSAL_LIMIT) break;
      const retryAfter = retryAfterOf(answer);
      return { status: answer.status, body: parse(body), ...(retryAfter === undefined ? {} : { retryAfter }) };
    } catch (cause) {
      throw failureOf(cause, { place, deadline, timeoutMs });
    } finally {
      clearTimeout(timer);
    }
  };
};

const failureOf = (
  cause: unknown,
  { place, deadline, timeoutMs }: { place: Place; deadline: AbortSignal; timeoutMs: number },
): unknown => {
  if (cause instanceof TransportError && cause.code.startsWith('certificate-'))
    return new Failure(
      `The server at ${place.address} is not the plane that was expected, so nothing was sent to it: ${cause.message}.${place.pins.length === 0 ? UNPINNED : ''}`,
      EXIT.failed,
      { cause },
    );
  if (deadline.aborted) return new Error(`no answer within ${timeoutMs / 1_000} s`, { cause });
  return cause;
};

const parse = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};

const retryAfterOf = (answer: Pick<HttpAnswer | HttpStream, 'header'>): number | undefined => {
  const seconds = Number(answer.header('retry-after')[0] ?? Number.NaN);
  return Number.isFinite(seconds) && seconds >= 0 ? seconds : undefined;
};

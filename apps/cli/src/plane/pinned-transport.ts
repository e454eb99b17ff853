import { PinnedClient, TransportError, type HttpAnswer } from '@rollcall/pinned-https';
import { EXIT, Failure } from '../failure.js';
import type { Transport } from './transport.js';

const ANSWER_LIMIT = 16 * 1_024 * 1_024;

/** HTTPS to the plane of a sign-in link. Nothing is sent before the server has proven the pinned key, or a public certificate. */
export const pinnedTransport = (place: { readonly address: string; readonly pins: readonly string[] }): Transport => {
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
      if (cause instanceof TransportError && cause.code.startsWith('certificate-'))
        throw new Failure(
          `The server at ${place.address} is not the plane that was expected, so nothing was sent to it: ${cause.message}.`,
          EXIT.failed,
          { cause },
        );
      if (deadline.aborted) throw new Error(`no answer within ${timeoutMs / 1_000} s`, { cause });
      throw cause;
    }
  };
};

const parse = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};

const retryAfterOf = (answer: HttpAnswer): number | undefined => {
  const seconds = Number(answer.header('retry-after')[0] ?? Number.NaN);
  return Number.isFinite(seconds) && seconds >= 0 ? seconds : undefined;
};

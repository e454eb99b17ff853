import { PROBLEM_MEDIA_TYPE, type ProblemCode } from '@rollcall/wire';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Logger } from 'pino';
import type { ProblemAnswer } from './problem-document.js';

// By the response below Fastify's: a filter and a hook may see different wrappers of one answer.
const codes = new WeakMap<object, ProblemCode>();

/** The code of the problem document that was sent; null where it was none. */
export const problemCodeOf = (reply: FastifyReply): ProblemCode | null => codes.get(reply.raw) ?? null;

/** Answers with a problem document; a fault is logged here, once, with its cause and the request's id. */
export const sendProblem = (
  { problem, headers, fault }: ProblemAnswer,
  { error, request, reply, logger }: { error: unknown; request: FastifyRequest; reply: FastifyReply; logger: Logger },
): FastifyReply => {
  codes.set(reply.raw, problem.code);
  if (fault) logger.error({ err: error, requestId: request.id, traceId: request.traced?.traceId }, 'a request failed');
  return (
    reply
      .code(problem.status)
      .headers(headers)
      .header('content-type', PROBLEM_MEDIA_TYPE)
      // As bytes, because Fastify adds a charset to text, which this media type does not have.
      .send(Buffer.from(JSON.stringify(problem)))
  );
};

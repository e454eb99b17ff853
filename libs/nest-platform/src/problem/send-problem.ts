import { PROBLEM_MEDIA_TYPE } from '@rollcall/wire';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Logger } from 'pino';
import type { ProblemAnswer } from './problem-document.js';

/** Answers with a problem document; a fault is logged here, once, with its cause and the request's id. */
export const sendProblem = (
  { problem, headers, fault }: ProblemAnswer,
  { error, request, reply, logger }: { error: unknown; request: FastifyRequest; reply: FastifyReply; logger: Logger },
): FastifyReply => {
  if (fault) logger.error({ err: error, requestId: request.id }, 'a request failed');
  return (
    reply
      .code(problem.status)
      .headers(headers)
      .header('content-type', PROBLEM_MEDIA_TYPE)
      // As bytes, because Fastify adds a charset to text, which this media type does not have.
      .send(Buffer.from(JSON.stringify(problem)))
  );
};

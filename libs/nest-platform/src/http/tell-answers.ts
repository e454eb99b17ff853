import type { AnsweredRequest } from '@rollcall/telemetry';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { EVENT_STREAM_MEDIA_TYPE } from './event-stream.js';
import { problemCodeOf } from '../problem/send-problem.js';

/** Tells each answer when it was given. */
export const tellAnswers = (instance: FastifyInstance, answered: (request: AnsweredRequest) => void): void => {
  instance.addHook('onResponse', (request, reply, done) => {
    // How long a stream was open says nothing of how long somebody waited.
    if (reply.getHeader('content-type') !== EVENT_STREAM_MEDIA_TYPE) answered(answeredBy(request, reply));
    done();
  });
};

/** An answer that was given. Never who asked, nor the path that was asked for (O2). */
export const answeredBy = (request: FastifyRequest, reply: FastifyReply): AnsweredRequest => ({
  method: request.method,
  // Found out only for who asks: Fastify puts a description of the whole route together each time.
  get route() {
    return request.routeOptions.url ?? null;
  },
  status: reply.statusCode,
  code: problemCodeOf(reply),
  seconds: reply.elapsedTime / 1_000,
});
